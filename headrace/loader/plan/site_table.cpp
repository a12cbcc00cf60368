#include "headrace/loader/plan/site_table.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::loader::detail {

double power_of(double x, double p) {
  if (p >= 1) return x;
  double result = 1, root = x;
  for (int bit = 0; bit < 32 && p > 0; ++bit) {
    root = std::sqrt(root);
    p *= 2;
    if (p < 1) continue;
    p -= 1;
    result *= root;
  }
  return result;
}

SiteTable::SiteTable(std::span<const cohort::SiteBlock> blocks, const cohort::PartGrid& grid,
                     const std::array<std::int64_t, 3>& shape_zyx, double power)
    : grid_(grid) {
  const auto along = [&](std::size_t axis) {
    return static_cast<std::uint32_t>((shape_zyx[axis] + grid.block_zyx[axis] - 1) /
                                      grid.block_zyx[axis]);
  };
  for (std::size_t axis = 0; axis < 3; ++axis) size_[axis] = static_cast<double>(shape_zyx[axis]);
  blocks_y_ = along(1);
  blocks_x_ = along(2);
  parts_.push_back({{~0ull, ~0ull, ~0ull, ~0ull}});
  blocks_.reserve(blocks.size());
  std::vector<double> chances, weights;
  for (std::size_t i = 0; i < blocks.size();) {
    first_.push_back(static_cast<std::uint32_t>(i));
    weights.clear();
    std::uint64_t pixels = 0;
    const std::size_t begin = i;
    for (; i < blocks.size() && blocks[i].region == blocks[begin].region; ++i) {
      const auto& [z, y, x] = blocks[i].place_zyx;
      Block& block = blocks_.emplace_back();
      block.place = (z * blocks_y_ + y) * blocks_x_ + x;
      if (!(blocks[i].parts == parts_[0])) {
        block.parts = static_cast<std::uint32_t>(parts_.size());
        parts_.push_back(blocks[i].parts);
      }
      weights.push_back(blocks[i].pixels);
      pixels += blocks[i].pixels;
    }
    const auto slots = alias_slots(weights);
    for (std::size_t k = 0; k < slots.size(); ++k) blocks_[begin + k].slot = slots[k];
    chances.push_back(power_of(static_cast<double>(pixels), power));
    pixels_ += pixels;
  }
  if (blocks.empty()) return;
  first_.push_back(static_cast<std::uint32_t>(blocks.size()));
  parts_.shrink_to_fit();
  regions_ = AliasTable(chances);
}

SiteBox SiteTable::part(std::uint32_t region, std::uint32_t slot, std::uint32_t coin,
                        std::uint32_t part) const {
  const std::uint32_t first = first_[region], count = first_[region + 1] - first;
  std::uint32_t at = static_cast<std::uint32_t>((std::uint64_t{slot} * count) >> 32);
  if (coin >= blocks_[first + at].slot.keep_below) at = blocks_[first + at].slot.alias;
  const Block& block = blocks_[first + at];
  const cohort::PartBits& parts = parts_[block.parts];
  const std::uint32_t rank =
      static_cast<std::uint32_t>((std::uint64_t{part} * parts.count()) >> 32);
  const auto inside = grid_.first_of(parts.nth(rank));
  const std::array<std::uint32_t, 3> place{block.place / blocks_x_ / blocks_y_,
                                           block.place / blocks_x_ % blocks_y_,
                                           block.place % blocks_x_};
  SiteBox box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.low[axis] = static_cast<double>(place[axis]) * grid_.block_zyx[axis] + inside[axis];
    box.high[axis] = std::min(box.low[axis] + grid_.part_zyx[axis], size_[axis]);
  }
  return box;
}

double SiteTable::share(const SiteBox& box) const {
  using Range = std::array<std::int64_t, 2>;
  const auto parts_in = [&](std::size_t axis) -> Range {
    const double edge = grid_.part_zyx[axis];
    const Range parts{static_cast<std::int64_t>(std::ceil(box.low[axis] / edge)),
                      static_cast<std::int64_t>(std::ceil(box.high[axis] / edge))};
    if (parts[0] < parts[1]) return parts;
    const auto middle =
        static_cast<std::int64_t>(std::floor(0.5 * (box.low[axis] + box.high[axis]) / edge));
    return {middle, middle + 1};
  };
  const Range rows = parts_in(1), columns = parts_in(2);
  const std::int64_t high = grid_.parts_along(1), wide = grid_.parts_along(2);
  const auto blocks_under = [](const Range& parts, std::int64_t along,
                               std::int64_t count) -> Range {
    return {std::max<std::int64_t>(0, parts[0]) / along,
            std::clamp<std::int64_t>((parts[1] + along - 1) / along, 0, count)};
  };
  const Range ys = blocks_under(rows, high, blocks_y_), xs = blocks_under(columns, wide, blocks_x_);
  std::int64_t held = 0;
  for (std::int64_t by = ys[0]; by < ys[1]; ++by) {
    for (std::int64_t bx = xs[0]; bx < xs[1]; ++bx) {
      const cohort::PartBits* const parts =
          parts_of(static_cast<std::uint32_t>(by * blocks_x_ + bx));
      if (parts == nullptr) continue;
      for (std::int64_t y = std::max(rows[0], by * high); y < std::min(rows[1], (by + 1) * high);
           ++y) {
        for (std::int64_t x = std::max(columns[0], bx * wide);
             x < std::min(columns[1], (bx + 1) * wide); ++x)
          held += parts->test(grid_.part(0, y - by * high, x - bx * wide)) ? 1 : 0;
      }
    }
  }
  return static_cast<double>(held) /
         static_cast<double>((rows[1] - rows[0]) * (columns[1] - columns[0]));
}

const cohort::PartBits* SiteTable::parts_of(std::uint32_t place) const {
  const auto found = std::lower_bound(
      blocks_.begin(), blocks_.end(), place,
      [](const Block& block, std::uint32_t wanted) { return block.place < wanted; });
  return found == blocks_.end() || found->place != place ? nullptr : &parts_[found->parts];
}

}  // namespace headrace::loader::detail
