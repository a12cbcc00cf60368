#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/ingest/store/site_rows.hpp"

namespace headrace::ingest {

/// The sampler's sites of a slide's label image: for each class above 0, the regions and their
/// places. A region is a connected component (8 neighbours) of the parts (16 pixels of level 0,
/// fewer on small images) that hold at least one pixel of the class, so annotations whose parts
/// touch are one region. `add` is safe from any thread and counts in integers, so neither the order
/// of tiles nor threads matter.
/// memory  2 bytes for each part of the blocks in which a class occurs
class SlideSites {
 public:
  SlideSites(std::int64_t height, std::int64_t width, std::int64_t cell_px);

  /// Label values of one box of level 0, rows `box.width` apart.
  void add(const Box2& box, const std::uint8_t* labels);

  const cohort::PartGrid& grid() const noexcept { return grid_; }
  /// Sorted by class, region (numbered from 0 in each class, by first part) and place.
  std::vector<cohort::SiteBlock> blocks() const;

 private:
  using Counts = std::array<std::uint16_t, 256>;  ///< pixels of each part

  std::int64_t height_, width_;
  cohort::PartGrid grid_;
  std::mutex mutex_;
  /// By class, then block (y · blocks along x + x).
  std::map<std::uint8_t, std::map<std::int64_t, Counts>> classes_;
};

}  // namespace headrace::ingest
