#include "headrace/pixels/tissue/small_objects.hpp"

#include <algorithm>
#include <vector>

#include "headrace/pixels/components.hpp"

namespace headrace::pixels {
namespace {

/// The pixels of `value` as a volume of one slice.
BitVolume bits_of(const Mask& mask, std::uint8_t value) {
  BitVolume bits({1, mask.height, mask.width});
  for (std::int64_t y = 0; y < mask.height; ++y) {
    std::uint64_t* row = bits.row(0, y);
    for (std::int64_t x = 0; x < mask.width; ++x) {
      row[x >> 6] |= std::uint64_t{mask.at(y, x) == value} << (x & 63);
    }
  }
  return bits;
}

/// Turns components of `value` of fewer than `min_px` pixels into the other value; with keep_edge
/// none that touches the image's edge.
void flip_small(Mask& mask, std::int64_t min_px, std::uint8_t value, Neighbours neighbours,
                bool keep_edge) {
  const Components found = find_components(bits_of(mask, value), neighbours);
  std::vector<bool> flipped;
  for (const std::uint64_t size : found.sizes)
    flipped.push_back(static_cast<std::int64_t>(size) < min_px);
  for (const Run& run : found.runs) {
    const bool at_edge =
        run.y == 0 || run.y == mask.height - 1 || run.x0 == 0 || run.x1 == mask.width;
    if (keep_edge && at_edge) flipped[run.component] = false;
  }
  for (const Run& run : found.runs) {
    if (flipped[run.component]) {
      std::fill(&mask.at(run.y, run.x0), &mask.at(run.y, run.x0) + (run.x1 - run.x0),
                static_cast<std::uint8_t>(1 - value));
    }
  }
}

}  // namespace

void remove_small_objects(Mask& mask, std::int64_t min_px) {
  flip_small(mask, min_px, 1, Neighbours::everything, false);
}
void fill_small_holes(Mask& mask, std::int64_t min_px) {
  flip_small(mask, min_px, 0, Neighbours::faces, true);
}

}  // namespace headrace::pixels
