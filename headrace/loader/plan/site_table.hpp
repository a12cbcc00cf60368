#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/cohort/site_index.hpp"
#include "headrace/loader/plan/alias_table.hpp"

namespace headrace::loader::detail {

using Zyx = std::array<double, 3>;

/// [low, high) in pixels of level 0; z is [0, 1) on slides.
struct SiteBox {
  Zyx low{}, high{};
};

/// Draws places of one thing in one image in constant time: a region, by its size to a power; a
/// block of it, by its pixels; and one of the block's parts that hold it, all equally likely.
/// memory  16 bytes for each block, 32 more where not every part of it holds the thing, 12 for each
///         region
class SiteTable {
 public:
  SiteTable() = default;
  /// blocks  of one thing, sorted by region; none may be empty
  /// power   0: all regions equally likely, 1: in proportion to their pixels
  SiteTable(std::span<const cohort::SiteBlock> blocks, const cohort::PartGrid& grid,
            const std::array<std::int64_t, 3>& shape_zyx, double power);

  bool empty() const noexcept { return blocks_.empty(); }
  std::uint64_t pixels() const noexcept { return pixels_; }
  std::uint32_t regions() const noexcept {
    return static_cast<std::uint32_t>(std::max<std::size_t>(first_.size(), 1) - 1);
  }

  /// Takes random words, returns numbers.
  std::uint32_t region(std::uint32_t slot, std::uint32_t coin) const {
    return static_cast<std::uint32_t>(regions_.draw(slot, coin));
  }
  SiteBox part(std::uint32_t region, std::uint32_t slot, std::uint32_t coin,
               std::uint32_t part) const;

  /// How much of a box of a slide holds the thing: of the parts whose first pixel lies in it, those
  /// that hold some; of a box without any, the part under its middle. For tables of one region. 0 to 1; what is outside of the image holds nothing.
  double share(const SiteBox& box) const;

 private:
  struct Block {
    std::uint32_t place = 0;  ///< number of the block in the image, x fastest
    std::uint32_t parts = 0;  ///< place in parts_; 0: all of them
    AliasSlot slot;           ///< among the slots of the region
  };
  /// Of the block there; null: none holds anything.
  const cohort::PartBits* parts_of(std::uint32_t place) const;

  cohort::PartGrid grid_;
  Zyx size_{};
  std::uint32_t blocks_y_ = 1, blocks_x_ = 1;
  std::uint64_t pixels_ = 0;
  std::vector<Block> blocks_;
  std::vector<cohort::PartBits> parts_;
  std::vector<std::uint32_t> first_;  ///< block of each region, and one past the last
  AliasTable regions_;
};

/// x to the power p by square roots: the same bits on every machine.
/// range  x at least 0, p 0 to 1 (kept to 2^-32)
double power_of(double x, double p);

}  // namespace headrace::loader::detail
