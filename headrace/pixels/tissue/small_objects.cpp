#include "headrace/pixels/tissue/small_objects.hpp"

#include <utility>
#include <vector>

namespace headrace::pixels {
namespace {

struct Component {
  std::vector<std::pair<std::int64_t, std::int64_t>> pixels;
  bool touches_edge = false;
};

/// Collects the pixels of `value` connected with (y, x), and marks them as seen.
Component grow(const Mask& mask, std::vector<std::uint8_t>& seen, std::int64_t y, std::int64_t x,
               std::uint8_t value, bool diagonal) {
  Component component;
  const auto visit = [&](std::int64_t py, std::int64_t px) {
    if (py < 0 || px < 0 || py >= mask.height || px >= mask.width) return;
    auto& mark = seen[static_cast<std::size_t>(py * mask.width + px)];
    if (mark != 0 || mask.at(py, px) != value) return;
    mark = 1;
    component.pixels.emplace_back(py, px);
    component.touches_edge |= py == 0 || px == 0 || py == mask.height - 1 || px == mask.width - 1;
  };
  visit(y, x);
  for (std::size_t i = 0; i < component.pixels.size(); ++i) {
    const auto [cy, cx] = component.pixels[i];
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        if (diagonal || dy == 0 || dx == 0) visit(cy + dy, cx + dx);
      }
    }
  }
  return component;
}

void flip_small(Mask& mask, std::int64_t min_px, std::uint8_t value, bool diagonal,
                bool keep_edge) {
  std::vector<std::uint8_t> seen(mask.pixels.size());
  std::vector<Component> small;
  for (std::int64_t y = 0; y < mask.height; ++y) {
    for (std::int64_t x = 0; x < mask.width; ++x) {
      if (mask.at(y, x) != value || seen[static_cast<std::size_t>(y * mask.width + x)] != 0)
        continue;
      Component component = grow(mask, seen, y, x, value, diagonal);
      if (static_cast<std::int64_t>(component.pixels.size()) >= min_px) continue;
      if (keep_edge && component.touches_edge) continue;
      small.push_back(std::move(component));
    }
  }
  for (const auto& component : small) {
    for (const auto& [y, x] : component.pixels)
      mask.at(y, x) = static_cast<std::uint8_t>(1 - value);
  }
}

}  // namespace

void remove_small_objects(Mask& mask, std::int64_t min_px) {
  flip_small(mask, min_px, 1, true, false);
}
void fill_small_holes(Mask& mask, std::int64_t min_px) { flip_small(mask, min_px, 0, false, true); }

}  // namespace headrace::pixels
