#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/site_index.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The blocks of a label map of `spacing` (z, y, x): edges of `block` voxels on each axis, in 256
/// parts that are one voxel thin along the axis of the widest spacing (the first of equal ones), so
/// that on thick slices a part is not thicker than a slice.
cohort::PartGrid volume_part_grid(const std::array<double, 3>& spacing_mm_zyx);
/// The blocks of a slide whose index has cells of `cell_px`: the whole cell (tissue), or a quarter
/// of it (labels); 16×16 parts.
cohort::PartGrid tissue_part_grid(std::int64_t cell_px);
cohort::PartGrid label_part_grid(std::int64_t cell_px);

/// Collects the pixels of each region of each class in each block of an image, in any order; the
/// result depends only on the sums. Not safe from several threads.
/// memory  4 bytes for each block of the image, 64 for each block that holds a part of a region
class SiteRows {
 public:
  SiteRows(const cohort::PartGrid& grid, const std::array<std::int64_t, 3>& shape_zyx);

  /// `pixels` of part `part` of block `place_zyx` belong to that region.
  void add(const std::array<std::int64_t, 3>& place_zyx, std::uint32_t part,
           std::uint8_t class_value, std::uint32_t region, std::uint32_t pixels);
  /// Pixels x0 … x1 - 1 of row (z, y) of level 0 belong to it.
  void add_run(std::int64_t z, std::int64_t y, std::int64_t x0, std::int64_t x1,
               std::uint8_t class_value, std::uint32_t region);

  /// Sorted by class, region and place.
  std::vector<cohort::SiteBlock> blocks() const;
  const cohort::PartGrid& grid() const noexcept { return grid_; }

 private:
  struct Entry {
    cohort::SiteBlock block;
    std::uint32_t next = 0;  ///< the next one at the same place, counted from 1
  };
  cohort::PartGrid grid_;
  std::array<std::int64_t, 3> blocks_zyx_;
  std::vector<std::uint32_t> first_;  ///< of each place, counted from 1; 0: none
  std::vector<Entry> entries_;
};

/// Writes `<group>/sites`, with `axes` columns of places (2 for slides, which have no z).
void write_sites(storage::Store& store, const std::string& group, const cohort::PartGrid& grid,
                 std::size_t axes, const std::vector<cohort::SiteBlock>& blocks);
/// Appends the last eight words of a row, 32 bits each: parts 0 to 31 first.
void append_parts(const cohort::PartBits& parts, std::vector<std::uint32_t>& row);

}  // namespace headrace::ingest
