#include "headrace/cohort/body_region.hpp"

#include <algorithm>

namespace headrace::cohort {
namespace {

/// Calls `take` with the place, in parts of the whole volume, of each set part of a block.
template <typename Take>
void each_part(const PartGrid& grid, const SiteBlock& block, const Take& take) {
  for (std::uint32_t part = 0; part < 256; ++part) {
    if (!block.parts.test(part)) continue;
    const auto first = grid.first_of(part);
    std::array<std::int64_t, 3> place{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      place[axis] = std::int64_t{block.place_zyx[axis]} * grid.parts_along(axis) +
                    first[axis] / grid.part_zyx[axis];
    }
    take(place);
  }
}

/// Sets the neighbours along one axis of every set part.
void spread(std::vector<std::uint8_t>& parts, std::int64_t count, std::size_t step) {
  const std::vector<std::uint8_t> before = parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (before[i] == 0) continue;
    const auto along = static_cast<std::int64_t>(i / step) % count;
    if (along > 0) parts[i - step] = 1;
    if (along + 1 < count) parts[i + step] = 1;
  }
}

}  // namespace

BodyRegion::BodyRegion(const SiteIndex& body, const std::array<std::int64_t, 3>& shape_zyx)
    : grid_(body.grid), shape_(shape_zyx) {
  if (body.blocks.empty()) return;
  for (std::size_t axis = 0; axis < 3; ++axis)
    count_[axis] = (shape_[axis] + grid_.part_zyx[axis] - 1) / grid_.part_zyx[axis];
  parts_.assign(static_cast<std::size_t>(count_[0] * count_[1] * count_[2]), 0);
  for (const SiteBlock& block : body.blocks) {
    each_part(grid_, block, [&](const auto& place) {
      if (place[0] < count_[0] && place[1] < count_[1] && place[2] < count_[2])
        parts_[at(place[0], place[1], place[2])] = 1;
    });
  }
  const auto row = static_cast<std::size_t>(count_[2]);
  spread(parts_, count_[2], 1);
  spread(parts_, count_[1], row);
  spread(parts_, count_[0], row * static_cast<std::size_t>(count_[1]));
}

bool BodyRegion::holds(const SiteBlock& block) const {
  if (everywhere()) return true;
  bool all = true;
  each_part(grid_, block, [&](const auto& place) {
    all = all && place[0] < count_[0] && place[1] < count_[1] && place[2] < count_[2] &&
          parts_[at(place[0], place[1], place[2])] != 0;
  });
  return all;
}

std::span<const std::uint8_t> BodyRegion::slice(std::int64_t z) {
  if (everywhere()) return {};
  const std::int64_t layer = z / grid_.part_zyx[0];
  if (layer == shown_) return slice_;
  shown_ = layer;
  slice_.resize(static_cast<std::size_t>(shape_[1] * shape_[2]));
  for (std::int64_t y = 0; y < shape_[1]; ++y) {
    std::uint8_t* row = slice_.data() + y * shape_[2];
    for (std::int64_t px = 0; px < count_[2]; ++px) {
      const std::int64_t x0 = px * grid_.part_zyx[2],
                         x1 = std::min(x0 + grid_.part_zyx[2], shape_[2]);
      std::fill(row + x0, row + x1, parts_[at(layer, y / grid_.part_zyx[1], px)]);
    }
  }
  return slice_;
}

}  // namespace headrace::cohort
