#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/pixels/tissue/mask.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The pixels' part of the sampler's index of a slide: the tissue of each square cell of level 0.
/// Sorted rows (cell_y, cell_x, tissue_px, eight words: which of its 256 parts hold tissue) of the
/// cells that hold any.
/// tissue  mask; each of its pixels is as wide as `downsample` pixels of level 0
std::vector<std::uint32_t> tissue_cells(const pixels::Mask& tissue, std::int64_t downsample,
                                        std::int64_t height, std::int64_t width,
                                        std::int64_t cell_px);

/// Writes them: index/<id>.
void write_tissue_cells(storage::Store& store, const std::string& id, std::int64_t cell_px,
                        const std::vector<std::uint32_t>& rows);

/// The labels' part of the index: the annotated pixels of each class in each cell. `add` is safe
/// from any thread; the sums are integers, so their order does not matter.
class LabelCells {
 public:
  LabelCells(std::int64_t height, std::int64_t width, std::int64_t cell_px, std::size_t classes);

  /// Label values of one box of level 0, rows `box.width` apart.
  void add(const Box2& box, const std::uint8_t* labels);

  /// Classes up to the highest that occurs, so that a class that the store gets later changes
  /// nothing here.
  std::size_t classes_seen() const;
  /// Rows (cell_y, cell_x, class_0_px, …) of the cells that hold an annotated pixel, sorted; as
  /// many classes as classes_seen().
  std::vector<std::uint32_t> rows() const;
  /// Writes <group>/index.
  void write(storage::Store& store, const std::string& group) const;

 private:
  std::int64_t cell_px_, cells_y_, cells_x_;
  std::size_t classes_;
  std::mutex mutex_;
  std::vector<std::uint32_t> counts_;  // [cell][class]
};

}  // namespace headrace::ingest
