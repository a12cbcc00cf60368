#include "headrace/pixels/tissue/morphology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::pixels {
namespace {

/// out[i] is 1 where a pixel of the row within `radius` equals `wanted`. Windows grow by being put together, each
/// from two of the step before: of 1, 2, 4, … pixels. padded, grown: room of count + 2 * radius.
void spread_in_row(const std::uint8_t* src, std::uint8_t* out, std::size_t count,
                   std::size_t radius, std::uint8_t wanted, std::vector<std::uint8_t>& padded,
                   std::vector<std::uint8_t>& grown) {
  padded.assign(count + 2 * radius, 0);
  grown.resize(padded.size());
  for (std::size_t i = 0; i < count; ++i) padded[radius + i] = src[i] == wanted ? 1 : 0;
  std::size_t window = 1, valid = padded.size();
  while (window < 2 * radius + 1) {
    const std::size_t step = std::min(window, 2 * radius + 1 - window);
    valid -= step;
    const std::uint8_t* a = padded.data();
    std::uint8_t* to = grown.data();
    for (std::size_t i = 0; i < valid; ++i) to[i] = a[i] | a[i + step];
    padded.swap(grown);
    window += step;
  }
  std::copy_n(padded.data(), count, out);
}

/// 1 where a pixel of the square equals `wanted`.
Mask spread(const Mask& mask, int radius, std::uint8_t wanted) {
  Mask rows(mask.height, mask.width), both(mask.height, mask.width);
  const auto row_of = [&](auto& of, std::int64_t y) {
    return of.pixels.data() + static_cast<std::size_t>(y * mask.width);
  };
  std::vector<std::uint8_t> padded, grown;
  for (std::int64_t y = 0; y < mask.height; ++y) {
    spread_in_row(row_of(mask, y), row_of(rows, y), static_cast<std::size_t>(mask.width),
                  static_cast<std::size_t>(radius), wanted, padded, grown);
  }
  // Down all columns at once, row by row: how many of the rows within the radius have it.
  std::vector<std::uint32_t> inside(static_cast<std::size_t>(mask.width));
  const auto width = inside.size();
  const auto add = [&](std::int64_t y) {
    if (y >= mask.height) return;
    const std::uint8_t* row = row_of(rows, y);
    for (std::size_t x = 0; x < width; ++x) inside[x] += row[x];
  };
  for (std::int64_t y = 0; y < radius; ++y) add(y);
  for (std::int64_t y = 0; y < mask.height; ++y) {
    add(y + radius);
    if (y > radius) {
      const std::uint8_t* row = row_of(rows, y - radius - 1);
      for (std::size_t x = 0; x < width; ++x) inside[x] -= row[x];
    }
    std::uint8_t* to = row_of(both, y);
    for (std::size_t x = 0; x < width; ++x) to[x] = inside[x] > 0 ? 1 : 0;
  }
  return both;
}

}  // namespace

Mask dilate(const Mask& mask, int radius) { return spread(mask, radius, 1); }

Mask erode(const Mask& mask, int radius) {
  Mask outside = spread(mask, radius, 0);
  for (auto& pixel : outside.pixels) pixel = static_cast<std::uint8_t>(1 - pixel);
  return outside;
}

}  // namespace headrace::pixels
