#pragma once
#include <cstdint>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/volumes/bit_volume.hpp"

namespace headrace::ingest {

/// Edge of a cell of the sampler's index in voxels of level 0, on every axis.
inline constexpr std::int64_t kVolumeCell = 16;

/// The sampler's index: rows (cell_z, cell_y, cell_x, body voxels, voxels of class 0, 1, …) of the
/// cells that hold body or a class above 0, sorted.
/// labels  level 0, (z, y, x), values below `classes` or 255 (counted nowhere); null: none
std::vector<std::uint32_t> count_cells(const BitVolume& body, const std::uint8_t* labels,
                                       std::size_t classes, ThreadPool& pool);

}  // namespace headrace::ingest
