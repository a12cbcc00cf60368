#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/cohort/site_index.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/pixels/volume/bit_morphology.hpp"

namespace headrace::ingest {

/// Edge of a cell of the sampler's index in voxels of level 0, on every axis.
inline constexpr std::int64_t kVolumeCell = 16;

/// The voxels' part of the sampler's index: rows (cell_z, cell_y, cell_x, body voxels, eight words:
/// which of its 256 parts hold body) of the cells that hold any, sorted.
/// grid  blocks of kVolumeCell
std::vector<std::uint32_t> count_body_cells(const pixels::BitVolume& body,
                                            const cohort::PartGrid& grid, ThreadPool& pool);

/// The labels' part.
struct LabelCellRows {
  std::size_t columns = 0;  ///< 3, and one for each class up to the highest that occurs
  /// (cell_z, cell_y, cell_x, voxels of class 0, 1, …) of the cells that hold an annotated voxel,
  /// sorted.
  std::vector<std::uint32_t> rows;
};
/// labels  level 0, (z, y, x), values below `classes` or 255 (counted nowhere)
LabelCellRows count_label_cells(const std::uint8_t* labels,
                                const std::array<std::int64_t, 3>& shape_zyx, std::size_t classes,
                                ThreadPool& pool);

}  // namespace headrace::ingest
