#include "headrace/storage/s3_listing.hpp"

#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/storage/await_read.hpp"
#include "headrace/storage/http_reactor.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/s3_site.hpp"

namespace headrace::storage {
namespace {

constexpr std::size_t kMostBytes = 8 << 20;  // of an answer: 1,000 keys of 1,024 bytes, encoded

/// What stands between the first <name> and </name>; nothing where they are not there.
std::optional<std::string_view> inside(std::string_view text, std::string_view name) {
  const std::string begin = fmt::format("<{}>", name), end = fmt::format("</{}>", name);
  const std::size_t first = text.find(begin);
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first + begin.size());
  const std::size_t last = text.find(end);
  return last == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, last));
}

/// Of XML: the five names that every document has.
std::string unescaped(std::string_view text) {
  static const std::map<std::string_view, char> kNames{
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string plain;
  while (!text.empty()) {
    const auto name = text.substr(0, text.find(';') + 1);
    const auto found = text.front() == '&' ? kNames.find(name) : kNames.end();
    plain += found == kNames.end() ? text.front() : found->second;
    text.remove_prefix(found == kNames.end() ? 1 : name.size());
  }
  return plain;
}

std::optional<std::uint64_t> number_of(std::optional<std::string_view> text) {
  std::uint64_t value = 0;
  if (!text || text->empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

/// The next answer, as text.
std::string ask(const Place& bucket, const S3Site& site, const std::string& name,
                const std::map<std::string, std::string>& query) {
  std::vector<std::byte> bytes(kMostBytes);
  std::size_t count = 0;
  await_read([&](const ReadDone& done) {
    HttpRequest request;
    request.url = site.base.describe();
    request.name = name;
    request.s3 = site.access;
    request.query = query;
    request.range = {0, bytes.size(), false, std::nullopt, {}, true};
    request.dst = bytes;
    request.done = [&count, done](const HttpAnswer& answer, std::exception_ptr failure) {
      count = answer.bytes;
      done(std::move(failure));
    };
    HttpReactor::shared().start(std::move(request));
  });
  std::string text(reinterpret_cast<const char*>(bytes.data()), count);
  if (!inside(text, "IsTruncated"))
    fail(ErrorCode::io, "{}: the server's answer is no list of objects, as S3 gives one",
         bucket.describe());
  return text;
}

}  // namespace

void list_objects(const Place& place, const std::function<void(const ListedObject&)>& take) {
  check_host_is_named(place, place.describe());
  s3_site(place);  // refuses keys that could not be read
  const std::string written = place.describe();
  const std::size_t slash = written.find('/', written.find("://") + 3);
  const std::string bucket = written.substr(0, slash);
  std::string prefix = slash == std::string::npos ? "" : written.substr(slash + 1);
  if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
  const Place root = Place::parse(bucket);
  const S3Site site = s3_site(root);
  std::map<std::string, std::string> query{
      {"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
  while (true) {
    const std::string answer = ask(root, site, written, query);
    const bool is_encoded = inside(answer, "EncodingType") == "url";  // not every server does it
    std::string_view rest = answer;
    while (const auto entry = inside(rest, "Contents")) {
      rest = std::string_view(entry->data() + entry->size(),
                              static_cast<std::size_t>(answer.data() + answer.size() -
                                                       (entry->data() + entry->size())));
      const auto key = inside(*entry, "Key");
      const auto size = number_of(inside(*entry, "Size"));
      if (!key || !size)
        fail(ErrorCode::io, "{}: the server lists an object without its key or size", written);
      std::string plain = unescaped(*key);
      if (is_encoded) {
        for (char& letter : plain) letter = letter == '+' ? ' ' : letter;  // as forms encode it
        plain = percent_decoded(plain, written);
      }
      if (plain.ends_with('/') && *size == 0) continue;
      take({bucket + "/" + plain, *size, std::string(inside(*entry, "LastModified").value_or(""))});
    }
    if (inside(answer, "IsTruncated") != "true") return;
    const auto token = inside(answer, "NextContinuationToken");
    if (!token || token->empty())
      fail(ErrorCode::io, "{}: the server lists a part, and does not say how to go on", written);
    query["continuation-token"] = unescaped(*token);
  }
}

}  // namespace headrace::storage
