#include "headrace/storage/s3_signer.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

namespace headrace::storage {
namespace {

constexpr std::int64_t kAllowedSkewS = 4 * 60;  // servers allow 15 minutes, some 5
constexpr std::chrono::seconds kBetweenLooks{1};

std::string host_in(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  return url.substr(host, url.find('/', host) - host);
}

std::int64_t time_of_change(const std::string& file) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(file, error);
  return error ? 0 : static_cast<std::int64_t>(time.time_since_epoch().count());
}

}  // namespace

S3Signer::Keys& S3Signer::keys_of(const S3Access& access) {
  const S3KeySource& source = access.keys;
  // Given ones by what they are: two stores of one process may have others.
  const std::string name = source.given
                               ? fmt::format("\n{}\n{}\n{}", source.given->id, source.given->secret,
                                             source.given->session_token)
                               : source.file + "\n" + source.profile;
  const auto now = std::chrono::steady_clock::now();
  auto [found, is_new] = keys_.try_emplace(name);
  Keys& keys = found->second;
  if (source.given) {
    keys.keys = *source.given;
  } else if (is_new || now - keys.looked >= kBetweenLooks) {
    keys.looked = now;
    const std::int64_t changed = time_of_change(source.file);
    if (is_new || changed != keys.changed) {
      try {
        S3Keys read = read_s3_keys(source.file, source.profile);
        if (!(read == keys.keys)) keys.day_of.clear();
        keys.keys = std::move(read);
        keys.changed = changed;
      } catch (...) {
        if (is_new) keys_.erase(found);
        if (is_new) throw;
        // It may be read while it is written anew: those of before hold until it is sound.
      }
    }
  }
  return keys;
}

std::vector<std::string> S3Signer::lines(const S3Access& access, const std::string& url,
                                         const std::map<std::string, std::string>& query) {
  Keys& keys = keys_of(access);
  S3Request request;
  const std::string host = host_in(url);
  request.path = url.substr(url.find("://") + 3 + host.size());
  request.query = query;
  const std::time_t now = std::time(nullptr) + clock_ahead_s(url);
  const std::string time = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
  request.headers = {
      {"host", host}, {"x-amz-content-sha256", std::string(kNoBody)}, {"x-amz-date", time}};
  if (!keys.keys.session_token.empty())
    request.headers["x-amz-security-token"] = keys.keys.session_token;
  const std::string day_of = time.substr(0, 8) + access.region;
  if (keys.day_of != day_of) {
    keys.day_key = s3_day_key(keys.keys.secret, time.substr(0, 8), access.region);
    keys.day_of = day_of;
  }
  std::vector<std::string> lines{"Authorization: " + s3_authorization(request, keys.keys.id,
                                                                      keys.day_key, access.region,
                                                                      time)};
  for (const auto& [name, value] : request.headers) {
    if (name != "host") lines.push_back(fmt::format("{}: {}", name, value));
  }
  return lines;
}

std::int64_t S3Signer::clock_ahead_s(const std::string& url) const {
  const auto found = ahead_s_.find(host_in(url));
  return found == ahead_s_.end() ? 0 : found->second;
}

bool S3Signer::learn_clock(const std::string& url, std::int64_t ahead_then_s,
                           std::int64_t answered_at) {
  const std::int64_t ahead = answered_at - static_cast<std::int64_t>(std::time(nullptr));
  if (std::abs(ahead - ahead_then_s) < kAllowedSkewS) return false;
  ahead_s_[host_in(url)] = ahead;
  return true;
}

}  // namespace headrace::storage
