#include "headrace/storage/http_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headrace::storage {
namespace {

using Kind = HttpVerdict::Kind;

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_named(std::string_view name, std::string_view expected) {
  return std::equal(name.begin(), name.end(), expected.begin(), expected.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
  });
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
  const std::uint64_t count = expected->last - expected->first + 1;
  if (received != count) return again(fmt::format("{} of {} bytes came", received, count));
  return {Kind::good, {}, ErrorCode::io, *head.total};
}

}  // namespace

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
  if (is_named(name, "content-encoding")) encoding = value;
  if (is_named(name, "location")) location = value;
  if (is_named(name, "retry-after")) {
    if (const auto seconds = number(value))
      retry_after_s = static_cast<int>(std::min<std::uint64_t>(*seconds, 3600));
  }
}

std::optional<HttpHead::Range> expected_range(const HttpRange& asked, const HttpHead& head) {
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
  switch (head.status) {
    case 206:
      return judge_range(asked, head, received);
    case 200:
      if (opens && head.length == 0) return {Kind::good, {}, ErrorCode::io, 0};
      return again("the server answers with the whole object where a range was asked for (200)");
    case 404:
    case 410:
      if (opens) return {Kind::absent, {}, ErrorCode::io, 0};
      return wrong(ErrorCode::not_found, "is gone since it was opened");
    case 412:
      return replaced();
    case 416:
      if (opens && head.total == 0) return {Kind::good, {}, ErrorCode::io, 0};
      return wrong(ErrorCode::corrupt, "ends before the bytes that were asked for (416)");
    case 401:
    case 403:
      return wrong(ErrorCode::io, fmt::format("the server refuses access ({})", head.status));
    case 408:
    case 429:
      return again(fmt::format("the server answers {}", head.status));
    default:
      break;
  }
  if (head.status >= 500) return again(fmt::format("the server answers {}", head.status));
  if (head.status >= 300 && head.status < 400)
    return wrong(
        ErrorCode::io,
        fmt::format(
            "the server redirects ({}), which is not followed: name the place "
            "itself{}",
            head.status,
            head.location.empty() ? "" : ", " + head.location.substr(0, head.location.find('?'))));
  return wrong(ErrorCode::io, fmt::format("the server answers {}", head.status));
}

}  // namespace headrace::storage
