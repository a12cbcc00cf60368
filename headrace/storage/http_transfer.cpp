#include "headrace/storage/http_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::storage {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kUselessBytes = 64 << 10;  // of an error's text; more is not waited for
constexpr std::size_t kErrorBytes = 2 << 10;     // of it, where the code stands
constexpr int kConnectTimeoutMs = 10000;
constexpr std::uint64_t kSlowestBytesPerMs = 10;  // a large range may take longer than give_up_s
constexpr int kAttemptsOtherwise = 4;

std::size_t take_line(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<HttpTransfer*>(user);
  if (!std::exchange(transfer.has_first_byte, true))
    transfer.host->pace.answered_after(HttpTransfer::Clock::now() - transfer.attempt);
  transfer.head.take({bytes, size * count});
  return size * count;
}

/// Ends the transfer by taking less than it was given.
std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<HttpTransfer*>(user);
  const std::size_t given = size * count;
  const auto range = expected_range(transfer.asked.range, transfer.head);
  if (!range) {
    transfer.useless += given;
    if (transfer.said.size() < kErrorBytes) transfer.said.append(bytes, given);
    return transfer.useless > kUselessBytes ? 0 : given;
  }
  const std::uint64_t most = range->last - range->first + 1;
  if (given > most - transfer.received) return 0;
  std::memcpy(transfer.dst().data() + transfer.received, bytes, given);
  transfer.received += given;
  return given;
}

std::string range_text(const HttpRange& range) {
  if (range.from_end) return fmt::format("-{}", range.count);
  return fmt::format("{}-{}", range.first, range.first + range.count - 1);
}

/// The URL of an attempt; its lines of the head go to the transfer.
std::string address(const Curl& curl, HttpTransfer& transfer, S3Signer& signer) {
  const HttpVersion& version = transfer.asked.range.version;
  const S3Access* s3 = transfer.asked.s3.get();
  const auto add = [&](const std::string& line) {
    transfer.lines = curl.slist_append(transfer.lines, line.c_str());
  };
  std::map<std::string, std::string> query = transfer.asked.query;
  transfer.states_version = s3 != nullptr && !version.id.empty() && !s3->versions_refused;
  if (transfer.states_version) {
    query["versionId"] = version.id;
  } else if (!version.etag.empty()) {
    add("If-Match: " + version.etag);
  } else if (!version.last_modified.empty()) {
    add("If-Unmodified-Since: " + version.last_modified);
  }
  if (s3 != nullptr && !s3->anonymous) {
    transfer.clock_ahead_s = signer.clock_ahead_s(transfer.asked.url);
    for (const std::string& line : signer.lines(*s3, transfer.asked.url, query)) add(line);
  }
  return query.empty() ? transfer.asked.url : transfer.asked.url + "?" + query_text(query);
}

}  // namespace

std::string_view host_part(std::string_view url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

void begin_attempt(const Curl& curl, HttpTransfer& transfer, Curl::Easy* easy,
                   const NetworkOptions& options, S3Signer& signer) {
  transfer.easy = easy;
  transfer.head = {};
  transfer.said.clear();
  transfer.received = transfer.useless = 0;
  transfer.has_first_byte = false;
  transfer.error[0] = '\0';
  transfer.attempt = HttpTransfer::Clock::now();
  if (transfer.attempts++ == 0 && !transfer.is_second) {
    transfer.begun = transfer.attempt;
    const HttpRange& asked = transfer.asked.range;
    transfer.give_up = transfer.begun + std::chrono::seconds(options.give_up_s);
    if (!asked.listing) transfer.give_up += milliseconds(asked.count / kSlowestBytesPerMs);
  } else if (!transfer.is_second) {
    transfer.give_up += transfer.attempt - transfer.ready;  // it waited for us, not for the server
  }
  std::string url;
  try {
    url = address(curl, transfer, signer);
  } catch (...) {
    end_attempt(curl, transfer);
    throw;
  }
  curl.easy_reset(easy);
  const auto set = [&](Curl::Option option, auto value) { curl.easy_setopt(easy, option, value); };
  const std::string range = range_text(transfer.asked.range);
  set(Curl::kUrl, url.c_str());
  if (!transfer.asked.range.listing) set(Curl::kRange, range.c_str());  // copied, as all texts are
  set(Curl::kProtocols, Curl::kHttpOrHttps);
  set(Curl::kHttpVersion, Curl::kHttp11);
  set(Curl::kFollowLocation, 0L);
  set(Curl::kProxy, "");
  set(Curl::kNoSignal, 1L);
  set(Curl::kConnectTimeoutMs, static_cast<long>(kConnectTimeoutMs));
  const auto left =
      std::chrono::duration_cast<milliseconds>(transfer.give_up - HttpTransfer::Clock::now());
  set(Curl::kTimeoutMs, static_cast<long>(std::max<std::int64_t>(left.count(), 1)));
  set(Curl::kLowSpeedLimit, 1L);
  set(Curl::kLowSpeedTime, static_cast<long>(options.stall_s));
  set(Curl::kErrorBuffer, transfer.error);
  set(Curl::kHeaderFunction, Curl::Take(take_line));
  set(Curl::kHeaderData, &transfer);
  set(Curl::kWriteFunction, Curl::Take(take_body));
  set(Curl::kWriteData, &transfer);
  set(Curl::kPrivate, &transfer);
  if (!options.ca_file.empty()) {
    set(Curl::kCaFile, options.ca_file.c_str());
    set(Curl::kCaPath, static_cast<const char*>(nullptr));  // not the system's besides
  }
  set(Curl::kHttpHeader, transfer.lines);
}

void end_attempt(const Curl& curl, HttpTransfer& transfer) {
  curl.slist_free_all(std::exchange(transfer.lines, nullptr));
  transfer.easy = nullptr;
}

bool is_right_otherwise(const HttpTransfer& transfer, S3Signer& signer) {
  const HttpHead& head = transfer.head;
  const S3Access* s3 = transfer.asked.s3.get();
  if (s3 == nullptr || transfer.attempts > kAttemptsOtherwise ||
      HttpTransfer::Clock::now() >= transfer.give_up)
    return false;
  const bool refused = head.status == 400 || head.status == 403;
  if (refused && head.date_s && !s3->anonymous &&
      signer.learn_clock(transfer.asked.url, transfer.clock_ahead_s, *head.date_s))
    return true;
  if (head.status != 403 || !transfer.states_version) return false;
  s3->versions_refused = true;
  return true;
}

HttpVerdict verdict_of(const Curl& curl, HttpTransfer& transfer, int result) {
  const HttpRange& asked = transfer.asked.range;
  // A body that was not taken to its end is judged by its head: it is too long, or another range.
  const bool by_head = result == Curl::kOk || result == Curl::kWriteError;
  if (!by_head) {
    const bool of_config = result == Curl::kCertificate || result == Curl::kCaUnreadable;
    return {of_config ? HttpVerdict::Kind::wrong : HttpVerdict::Kind::again,
            transfer.error[0] != '\0' ? transfer.error : curl.easy_strerror(result), ErrorCode::io,
            0};
  }
  transfer.head.code = error_code(transfer.said);
  HttpVerdict verdict = judge(asked, transfer.head, transfer.received);
  const S3Access* s3 = transfer.asked.s3.get();
  if (s3 != nullptr && s3->keys.given && keys_have_expired(transfer.head))
    verdict.kind = HttpVerdict::Kind::wrong;  // nobody renews those of the environment
  if (s3 != nullptr && !s3->keys.file.empty() && transfer.head.code == "InvalidAccessKeyId")
    verdict.kind = HttpVerdict::Kind::again;  // Ceph says so of a session that has ended
  if (result == Curl::kWriteError && verdict.kind == HttpVerdict::Kind::good)
    return {HttpVerdict::Kind::again, "more bytes came than the answer states", ErrorCode::io, 0};
  return verdict;
}

}  // namespace headrace::storage
