#include "headrace/imaging/tiff/aperio_description.hpp"

#include <charconv>
#include <cstdlib>

namespace headrace::imaging {
namespace {

using Size = std::pair<std::int64_t, std::int64_t>;  // height, width

bool is_near(std::int64_t stated, std::int64_t side) {
  constexpr std::int64_t kHundredth = 100;
  return std::abs(stated - side) <= 1 + side / kHundredth;
}

/// "1600x1200" at the start of a text.
std::optional<Size> size_at(const char* begin, const char* end) {
  Size size{};
  const auto [x, no_width] = std::from_chars(begin, end, size.second);
  if (no_width != std::errc() || x == begin || x == end || *x != 'x') return std::nullopt;
  const auto [rest, no_height] = std::from_chars(x + 1, end, size.first);
  if (no_height != std::errc() || rest == x + 1) return std::nullopt;
  return size.first > 0 && size.second > 0 ? std::optional(size) : std::nullopt;
}

}  // namespace

bool is_size_of(std::int64_t stated_height, std::int64_t stated_width, std::int64_t height,
                std::int64_t width) {
  return (is_near(stated_height, height) && is_near(stated_width, width)) ||
         (is_near(stated_height, width) && is_near(stated_width, height));
}

std::optional<Size> other_size_in_aperio(const std::string& description, std::int64_t height,
                                         std::int64_t width) {
  // Sizes stand before the first key; one in round brackets is that of the tiles.
  const std::string text = description.substr(0, description.find('|'));
  std::optional<Size> first;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    if (!is_digit(text[i]) || is_digit(before) || before == '(' || before == 'x') continue;
    const auto size = size_at(text.data() + i, text.data() + text.size());
    if (!size) continue;
    if (is_size_of(size->first, size->second, height, width)) return std::nullopt;
    if (!first) first = size;
  }
  return first;
}

}  // namespace headrace::imaging
