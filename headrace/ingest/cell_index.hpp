#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/ingest/tissue/mask.hpp"

namespace headrace::ingest {

/// Counts, for each square cell of level 0, the tissue pixels and the annotated pixels of each
/// class: what the sampler draws positions from. `add_labels` is safe from any thread; the sums are
/// integers, so their order does not matter.
class CellCounts {
 public:
  CellCounts(std::int64_t height, std::int64_t width, std::int64_t cell_px, std::size_t classes);

  /// Label values of one box of level 0, rows `box.width` apart.
  void add_labels(const Box2& box, const std::uint8_t* labels);
  /// The mask, each of its pixels as wide as `downsample` pixels of level 0.
  void add_tissue(const Mask& tissue, std::int64_t downsample);

  /// Rows (cell_y, cell_x, tissue_px, class_0_px …) of the cells that hold tissue or a class other
  /// than 0, sorted.
  std::vector<std::uint32_t> rows() const;
  std::size_t columns() const noexcept { return 3 + classes_; }
  const std::vector<std::uint64_t>& class_px() const noexcept { return class_px_; }

 private:
  std::int64_t height_, width_, cell_px_, cells_y_, cells_x_;
  std::size_t classes_;
  std::mutex mutex_;
  std::vector<std::uint32_t> tissue_, labels_;  // [cell], [cell][class]
  std::vector<std::uint64_t> class_px_;
};

}  // namespace headrace::ingest
