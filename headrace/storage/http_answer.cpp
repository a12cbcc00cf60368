#include "headrace/storage/http_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "headrace/core/text.hpp"

namespace headrace::storage {
namespace {

using Kind = HttpVerdict::Kind;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool is_named(std::string_view name, std::string_view expected) {
  return std::equal(name.begin(), name.end(), expected.begin(), expected.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
}

/// "Fri, 24 May 2013 00:00:00 GMT" (RFC 9110, 5.6.7), whatever the locale.
std::optional<std::int64_t> seconds_of_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = number(text.substr(5, 2)), year = number(text.substr(12, 4));
  const auto hour = number(text.substr(17, 2)), minute = number(text.substr(20, 2));
  const auto second = number(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
  std::tm time{};
  time.tm_year = static_cast<int>(*year) - 1900;
  time.tm_mon = static_cast<int>(month - kMonths.begin());
  time.tm_mday = static_cast<int>(*day);
  time.tm_hour = static_cast<int>(*hour);
  time.tm_min = static_cast<int>(*minute);
  time.tm_sec = static_cast<int>(*second);
  return timegm(&time);
}

/// "bytes 0-99/1234" or "bytes */1234". RFC 9110, 14.4
void take_range(std::string_view value, HttpHead& head) {
  if (!value.starts_with("bytes ")) return;
  value.remove_prefix(6);
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return;
  head.total = number(trimmed(value.substr(slash + 1)));
  const std::string_view span = trimmed(value.substr(0, slash));
  const std::size_t dash = span.find('-');
  if (dash == std::string_view::npos) return;
  const auto first = number(span.substr(0, dash)), last = number(span.substr(dash + 1));
  if (first && last && *first <= *last) head.range = {*first, *last};
}

HttpVerdict again(std::string why) { return {Kind::again, std::move(why), ErrorCode::io, 0}; }
HttpVerdict wrong(ErrorCode code, std::string why) {
  return {Kind::wrong, std::move(why), code, 0};
}
HttpVerdict replaced() {
  return wrong(ErrorCode::corrupt,
               "was replaced since it was opened; start again, with all of it new");
}

HttpVerdict judge_range(const HttpRange& asked, const HttpHead& head, std::uint64_t received) {
  if (!head.encoding.empty() && head.encoding != "identity")
    return again(fmt::format("the server packs ranges (Content-Encoding: {})", head.encoding));
  if (!head.range || !head.total) return again("a range without a sound Content-Range");
  if (asked.size && *head.total != *asked.size) return replaced();
  const auto expected = expected_range(asked, head);
  if (!expected)
    return again(fmt::format("bytes {} to {} were answered, which were not asked for",
                             head.range->first, head.range->last));
  if (!asked.version.etag.empty() && head.version.etag != asked.version.etag)
    return head.version.etag.empty() ? again("an answer without an ETag") : replaced();
  if (asked.version.etag.empty() && asked.version.last_modified != head.version.last_modified &&
      asked.size)
    return replaced();
  if (!asked.version.id.empty() && !head.version.id.empty() && asked.version.id != head.version.id)
    return again("another version was answered than was asked for");
  const std::uint64_t count = expected->last - expected->first + 1;
  if (received != count) return again(fmt::format("{} of {} bytes came", received, count));
  return {Kind::good, {}, ErrorCode::io, *head.total};
}

HttpVerdict judge_listing(const HttpHead& head, std::uint64_t received) {
  if (!head.encoding.empty() && head.encoding != "identity")
    return again(fmt::format("the server packs its answer (Content-Encoding: {})", head.encoding));
  if (head.length && *head.length != received)
    return again(fmt::format("{} of {} bytes came", received, *head.length));
  return {Kind::good, {}, ErrorCode::io, received};
}

std::string with_code(const HttpHead& head) {
  return head.code.empty() ? fmt::format("{}", head.status)
                           : fmt::format("{}, {}", head.status, head.code);
}

/// 400, 401, 403, and others that no new attempt changes, but for two that say so.
HttpVerdict refusal(const HttpHead& head, bool opens) {
  if (head.code == "RequestTimeout") return again("the server waited too long (RequestTimeout)");
  if (keys_have_expired(head))
    return again(fmt::format("the keys have expired ({}); renew them", with_code(head)));
  if (!head.bucket_region.empty())
    return wrong(ErrorCode::usage,
                 fmt::format("the server answers {}; the bucket lies in the region {}: state it as "
                             "network: {{s3: {{region: \"{}\"}}}}",
                             with_code(head), head.bucket_region, head.bucket_region));
  if (head.code == "SignatureDoesNotMatch" || head.code == "InvalidAccessKeyId")
    return wrong(ErrorCode::io, fmt::format("the server does not know these keys, or the secret is "
                                            "another one ({})",
                                            with_code(head)));
  if (head.status != 401 && head.status != 403)
    return wrong(ErrorCode::io, fmt::format("the server answers {}", with_code(head)));
  return wrong(
      ErrorCode::io,
      fmt::format("the server refuses access ({}){}", with_code(head),
                  head.code != "AccessDenied" ? ""
                  : opens ? ": these keys may not read it, or are wrong; some answer so for "
                            "what is not there, too, where the keys may not list"
                          : ": these keys may not read it, or are wrong"));
}

}  // namespace

std::string error_code(std::string_view body) {
  constexpr std::string_view kBegin = "<Code>", kEnd = "</Code>";
  const std::size_t begin = body.find(kBegin);
  if (begin == std::string_view::npos) return {};
  body.remove_prefix(begin + kBegin.size());
  const std::string_view code = body.substr(0, body.find(kEnd));
  const bool word =
      !code.empty() && code.size() <= 64 && std::all_of(code.begin(), code.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      });
  return word ? std::string(code) : "";
}

bool keys_have_expired(const HttpHead& head) {
  return head.code == "ExpiredToken" || head.code == "TokenRefreshRequired" ||
         head.code == "InvalidToken";
}

void HttpHead::take(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    *this = {};
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    if (const auto code = number(line.substr(space + 1, 3))) status = static_cast<int>(*code);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (is_named(name, "content-range")) take_range(value, *this);
  if (is_named(name, "content-length")) length = number(value);
  if (is_named(name, "etag") && !value.starts_with("W/")) version.etag = value;
  if (is_named(name, "last-modified")) version.last_modified = value;
  if (is_named(name, "x-amz-version-id") && value != "null") version.id = value;
  if (is_named(name, "x-amz-bucket-region")) bucket_region = value;
  if (is_named(name, "date")) date_s = seconds_of_date(value);
  if (is_named(name, "content-encoding")) encoding = value;
  if (is_named(name, "location")) location = value;
  if (is_named(name, "retry-after")) {
    if (const auto seconds = number(value))
      retry_after_s = static_cast<int>(std::min<std::uint64_t>(*seconds, 3600));
  }
}

std::optional<HttpHead::Range> expected_range(const HttpRange& asked, const HttpHead& head) {
  if (asked.listing && head.status == 200) return HttpHead::Range{0, asked.count - 1};
  if (head.status != 206 || !head.range || !head.total || *head.total == 0) return std::nullopt;
  const std::uint64_t total = *head.total, count = std::min(asked.count, total);
  const std::uint64_t first = asked.from_end ? total - count : asked.first;
  if (first >= total) return std::nullopt;
  const HttpHead::Range range{first, std::min(first + asked.count, total) - 1};
  if (range.first != head.range->first || range.last != head.range->last) return std::nullopt;
  return range;
}

HttpVerdict judge(const HttpRange& asked, const HttpHead& head, std::uint64_t received) {
  const bool opens = !asked.size;
  if (asked.listing && head.status == 200) return judge_listing(head, received);
  switch (head.status) {
    case 206:
      return judge_range(asked, head, received);
    case 200:
      if (opens && head.length == 0) return {Kind::good, {}, ErrorCode::io, 0};
      return again("the server answers with the whole object where a range was asked for (200)");
    case 404:
    case 410:
      if (head.code == "NoSuchBucket")
        return wrong(ErrorCode::not_found, "there is no such bucket (NoSuchBucket)");
      if (opens) return {Kind::absent, {}, ErrorCode::io, 0};
      return wrong(ErrorCode::not_found, "is gone since it was opened");
    case 412:
      return replaced();
    case 416:
      // Of an object that is opened every range begins within it, unless it is empty.
      if (opens && head.total.value_or(0) == 0) return {Kind::good, {}, ErrorCode::io, 0};
      return wrong(ErrorCode::corrupt, "ends before the bytes that were asked for (416)");
    case 408:
    case 429:
      return again(fmt::format("the server answers {}", head.status));
    default:
      break;
  }
  if (head.status >= 500) return again(fmt::format("the server answers {}", head.status));
  if (head.status >= 300 && head.status < 400 && head.bucket_region.empty())
    return wrong(
        ErrorCode::io,
        fmt::format(
            "the server redirects ({}), which is not followed: name the place "
            "itself{}",
            head.status,
            head.location.empty() ? "" : ", " + head.location.substr(0, head.location.find('?'))));
  return refusal(head, opens);
}

}  // namespace headrace::storage
