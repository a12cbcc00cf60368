#include "headrace/core/unicode_text.hpp"

#include <algorithm>

#include "headrace/core/canonical_pairs.hpp"

namespace headrace {
namespace {

/// Bytes of the code point that begins with this byte.
std::size_t length_of(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

char32_t point_at(std::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return byte(0);
  char32_t point = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length && at + i < text.size(); ++i)
    point = (point << 6) | (byte(i) & 0x3Fu);
  return point;
}

bool is_digit(char32_t point) { return point >= U'0' && point <= U'9'; }

char32_t small(char32_t point) {
  if (point >= U'A' && point <= U'Z') return point + 32;
  if (point >= 0x391 && point <= 0x3A9) return point + 32;  // Greek
  if (point >= 0x410 && point <= 0x42F) return point + 32;  // Cyrillic
  return point;
}

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of(static_cast<unsigned char>(text[i]));
    points += point_at(text, i, length);
    i += length;
  }
  return points;
}

bool is_blank(char32_t point) {
  return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 ||
         point == 0xAD || point == 0x1680 || point == 0x180E ||
         (point >= 0x2000 && point <= 0x200F) || (point >= 0x2028 && point <= 0x202F) ||
         (point >= 0x205F && point <= 0x206F) || point == 0x3000 || point == 0xFEFF;
}

std::string without_outer_blanks(std::string_view text) {
  std::size_t begin = text.size(), end = text.size();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of(static_cast<unsigned char>(text[i]));
    if (!is_blank(point_at(text, i, length))) {
      if (begin == text.size()) begin = i;
      end = std::min(text.size(), i + length);
    }
    i += length;
  }
  return begin == text.size() ? "" : std::string(text.substr(begin, end - begin));
}

std::u32string loosely_written(std::string_view text) {
  std::u32string plain;
  for (const char32_t point : code_points(text)) {
    if (is_blank(point)) continue;
    for (const char32_t part : decomposed(point)) plain += small(part);
  }
  std::u32string name;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const bool decimals = i > 0 && (plain[i - 1] == U'.' || plain[i - 1] == U',');
    const bool first = is_digit(plain[i]) && (i == 0 || !is_digit(plain[i - 1]));
    if (first && !decimals) {
      while (plain[i] == U'0' && i + 1 < plain.size() && is_digit(plain[i + 1])) ++i;
    }
    name += plain[i];
  }
  // As pandas writes a column of whole numbers in which one is missing.
  const auto point = name.find(U'.');
  const auto all = [&](std::size_t from, std::size_t to, const auto& fits) {
    for (std::size_t i = from; i < to; ++i) {
      if (!fits(name[i])) return false;
    }
    return to > from;
  };
  if (point != std::u32string::npos && all(0, point, is_digit) &&
      all(point + 1, name.size(), [](char32_t c) { return c == U'0'; }))
    name.resize(point);
  return name;
}

}  // namespace headrace
