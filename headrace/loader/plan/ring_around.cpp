#include <algorithm>
#include <cmath>

#include "headrace/loader/plan/plan_image.hpp"

namespace headrace::loader::detail {
namespace {

using Shape = std::array<std::int64_t, 3>;

/// One byte for each part of the image.
struct PartMap {
  PartMap(const cohort::PartGrid& of, const Shape& shape_zyx) : grid(of) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      parts[axis] = (shape_zyx[axis] + grid.part_zyx[axis] - 1) / grid.part_zyx[axis];
    values.resize(static_cast<std::size_t>(parts[0] * parts[1] * parts[2]));
  }
  std::uint8_t& at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((z * parts[1] + y) * parts[2] + x)];
  }
  void set(const cohort::SiteBlock& block) {
    const std::uint32_t count = block.parts.count();
    for (std::uint32_t n = 0; n < count; ++n) {
      const auto first = grid.first_of(block.parts.nth(n));
      Shape place;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        place[axis] = (std::int64_t{block.place_zyx[axis]} * grid.block_zyx[axis] + first[axis]) /
                      grid.part_zyx[axis];
      }
      at(place[0], place[1], place[2]) = 1;
    }
  }

  cohort::PartGrid grid;
  Shape parts{};
  std::vector<std::uint8_t> values;
};

/// Sets every element within `reach` of a set one, along one line.
void widen_line(std::uint8_t* line, std::int64_t count, std::int64_t step, std::int64_t reach,
                std::vector<std::uint8_t>& copy) {
  copy.resize(static_cast<std::size_t>(count));
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) {
    copy[static_cast<std::size_t>(i)] = line[i * step];
    any |= line[i * step] != 0;
  }
  if (!any) return;
  std::int64_t filled = 0;  // elements before it are final
  for (std::int64_t i = 0; i < count; ++i) {
    if (copy[static_cast<std::size_t>(i)] == 0) continue;
    const std::int64_t end = std::min(count, i + reach + 1);
    for (std::int64_t k = std::max(filled, i - reach); k < end; ++k) line[k * step] = 1;
    filled = std::max(filled, end);
  }
}

void widen(PartMap& map, const Shape& reach) {
  const auto& [depth, height, width] = map.parts;
  std::vector<std::uint8_t> copy;
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y)
      widen_line(&map.at(z, y, 0), width, 1, reach[2], copy);
    for (std::int64_t x = 0; x < width; ++x)
      widen_line(&map.at(z, 0, x), height, width, reach[1], copy);
  }
  for (std::int64_t y = 0; depth > 1 && y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x)
      widen_line(&map.at(0, y, x), depth, height * width, reach[0], copy);
  }
}

/// Joins single parts to blocks.
class Blocks {
 public:
  explicit Blocks(const PartMap& map) : grid_(map.grid) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      along_[axis] = grid_.parts_along(axis);
      blocks_[axis] = (map.parts[axis] + along_[axis] - 1) / along_[axis];
      pixels_ *= static_cast<std::uint32_t>(grid_.part_zyx[axis]);
    }
    slot_.resize(static_cast<std::size_t>(blocks_[0] * blocks_[1] * blocks_[2]));
  }

  void add(std::int64_t z, std::int64_t y, std::int64_t x) {
    const Shape place{z / along_[0], y / along_[1], x / along_[2]};
    std::uint32_t& at =
        slot_[static_cast<std::size_t>((place[0] * blocks_[1] + place[1]) * blocks_[2] + place[2])];
    if (at == 0) {
      cohort::SiteBlock& block = found_.emplace_back();
      for (std::size_t axis = 0; axis < 3; ++axis)
        block.place_zyx[axis] = static_cast<std::uint32_t>(place[axis]);
      at = static_cast<std::uint32_t>(found_.size());
    }
    found_[at - 1].parts.set(grid_.part(z % along_[0], y % along_[1], x % along_[2]));
    found_[at - 1].pixels += pixels_;
  }

  std::vector<cohort::SiteBlock> take() {
    std::sort(found_.begin(), found_.end(),
              [](const auto& a, const auto& b) { return a.place_zyx < b.place_zyx; });
    return std::move(found_);
  }

 private:
  cohort::PartGrid grid_;
  Shape along_{}, blocks_{};
  std::uint32_t pixels_ = 1;
  std::vector<std::uint32_t> slot_;  ///< of each block in found_, counted from 1
  std::vector<cohort::SiteBlock> found_;
};

}  // namespace

std::vector<cohort::SiteBlock> ring_around(const cohort::SiteIndex& labels,
                                           const std::vector<bool>& classes,
                                           const cohort::SiteIndex& tissue,
                                           const std::array<std::int64_t, 3>& shape,
                                           const Zyx& reach_px) {
  if (labels.blocks.empty()) return {};
  const cohort::PartGrid& grid = labels.grid;
  PartMap lesions(grid, shape), tissues(tissue.grid, shape);
  for (const auto& block : labels.blocks) {
    if (classes[block.class_value]) lesions.set(block);
  }
  for (const auto& block : tissue.blocks) tissues.set(block);
  PartMap wide = lesions;
  Shape reach;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    reach[axis] = static_cast<std::int64_t>(std::floor(reach_px[axis] / grid.part_zyx[axis]));
    reach[axis] = std::clamp<std::int64_t>(reach[axis], 1, wide.parts[axis]);
  }
  widen(wide, reach);
  const auto on_tissue = [&](std::int64_t part, std::size_t axis) {
    const std::int64_t middle = part * grid.part_zyx[axis] + grid.part_zyx[axis] / 2;
    return std::min(middle, shape[axis] - 1) / tissue.grid.part_zyx[axis];
  };
  Blocks ring(wide);
  for (std::int64_t z = 0; z < wide.parts[0]; ++z) {
    for (std::int64_t y = 0; y < wide.parts[1]; ++y) {
      for (std::int64_t x = 0; x < wide.parts[2]; ++x) {
        if (wide.at(z, y, x) == 0 || lesions.at(z, y, x) != 0) continue;
        if (tissues.at(on_tissue(z, 0), on_tissue(y, 1), on_tissue(x, 2)) != 0) ring.add(z, y, x);
      }
    }
  }
  return ring.take();
}

}  // namespace headrace::loader::detail
