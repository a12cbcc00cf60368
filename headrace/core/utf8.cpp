#include "headrace/core/utf8.hpp"

#include <algorithm>
#include <cstdint>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

/// Bytes of the well-formed character at a place; 0: there is none. Source: Unicode 15, table 3-7.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const std::uint8_t lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xC2 && lead <= 0xDF   ? 2
                            : lead >= 0xE0 && lead <= 0xEF ? 3
                            : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                           : 0;
  if (bytes == 0 || text.size() - at < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    std::uint8_t low = 0x80, high = 0xBF;
    if (i == 1 && lead == 0xE0) low = 0xA0;   // overlong
    if (i == 1 && lead == 0xED) high = 0x9F;  // surrogates
    if (i == 1 && lead == 0xF0) low = 0x90;   // overlong
    if (i == 1 && lead == 0xF4) high = 0x8F;  // beyond U+10FFFF
    const std::uint8_t next = byte_at(text, at + i);
    if (next < low || next > high) return 0;
  }
  return bytes;
}

/// Of the well-formed character at a place.
std::uint32_t code_point(std::string_view text, std::size_t at, std::size_t bytes) {
  constexpr std::uint8_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = byte_at(text, at) & kLeadBits[bytes];
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (byte_at(text, at + i) & 0x3FU);
  return code;
}

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string from_utf16(std::string_view bytes, bool big_endian, std::string_view origin) {
  const auto unit = [&](std::size_t at) {
    const std::uint32_t first = byte_at(bytes, at), second = byte_at(bytes, at + 1);
    return big_endian ? first << 8 | second : second << 8 | first;
  };
  const auto broken = [&](std::size_t at) {
    fail(ErrorCode::malformed, "{}: byte {} is not UTF-16, which its first bytes announce", origin,
         at);
  };
  std::string text;
  for (std::size_t at = 2; at < bytes.size(); at += 2) {
    if (at + 1 >= bytes.size()) broken(at);
    std::uint32_t code = unit(at);
    if (code >= 0xD800 && code < 0xE000) {
      const bool pair =
          code < 0xDC00 && at + 3 < bytes.size() && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000;
      if (!pair) broken(at);
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

/// Lines end with LF, CR LF or CR.
std::size_t line_at(std::string_view text, std::size_t at) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < at; ++i) {
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 >= text.size() || text[i + 1] != '\n')))
      ++line;
  }
  return line;
}

}  // namespace

std::optional<std::size_t> first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::nullopt;
}

std::optional<std::size_t> first_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes > 0 && is_control(code_point(text, at, bytes))) return at;
    at += std::max<std::size_t>(bytes, 1);
  }
  return std::nullopt;
}

std::optional<std::string> why_no_plain_text(std::string_view text) {
  const auto at = first_control(text);
  if (!at) return std::nullopt;
  return fmt::format("holds the control character U+{:04X}",
                     code_point(text, *at, character_bytes(text, *at)));
}

std::string shown_text(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) {
      shown += fmt::format("\\x{:02X}", byte_at(text, at++));
    } else {
      const std::uint32_t code = code_point(text, at, bytes);
      const bool layout = code == '\n' || code == '\t';
      shown += is_control(code) && !layout ? fmt::format("\\u{:04X}", code)
                                           : std::string(text.substr(at, bytes));
      at += bytes;
    }
  }
  return shown;
}

std::string text_of_bytes(std::string bytes, std::string_view origin) {
  if (bytes.starts_with("\xFF\xFE")) return from_utf16(bytes, false, origin);
  if (bytes.starts_with("\xFE\xFF")) return from_utf16(bytes, true, origin);
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  const auto bad = first_not_utf8(bytes);
  if (!bad) return bytes;
  constexpr std::size_t kShown = 24;
  const std::size_t begin = *bad - std::min(*bad, kShown / 2);
  std::string near = bytes.substr(begin, kShown);
  // Not from the middle of a character, and of this line alone.
  while (!near.empty() && (byte_at(near, 0) & 0xC0) == 0x80 && begin < *bad) near.erase(0, 1);
  if (const auto end = near.find_last_of("\r\n", *bad - begin); end != std::string::npos)
    near.erase(0, end + 1);
  near = near.substr(0, near.find_first_of("\r\n"));
  fail(ErrorCode::malformed,
       "{}, line {}: '{}' is not UTF-8, and in which encoding it is does not show (Latin-1, "
       "Windows-1252, …); save it as UTF-8 (Excel: 'CSV UTF-8')",
       origin, line_at(bytes, *bad), shown_text(near));
}

}  // namespace headrace
