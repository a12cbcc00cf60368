#pragma once
#include <cstdint>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/pixels/bit_volume.hpp"

namespace headrace::imaging {

/// Values of one volume at the voxel centres of another grid of the same world: linear between the
/// eight voxels around each, rounded to the nearest integer (halves to even). As in ITK's linear
/// interpolator, a volume reaches half a voxel beyond its outermost centres, and reads there as the
/// nearest of them. Nothing is smoothed: a much coarser grid only samples the volume.
///
/// in   from     (z, y, x) on from_grid
///      outside  value of voxels that `from` does not reach
/// out  to       (z, y, x) on to_grid
/// returns  how many voxels of `to` lie outside `from`
/// The same for any number of threads.
std::int64_t resample_linear(const std::int16_t* from, const VolumeGrid& from_grid,
                             const VolumeGrid& to_grid, std::int16_t outside, std::int16_t* to,
                             ThreadPool& pool);

/// The voxels of `to` that lie in `from`: those that resample_linear does not fill.
pixels::BitVolume reached_voxels(const VolumeGrid& from_grid, const VolumeGrid& to_grid,
                                 ThreadPool& pool);

/// Whether no voxel of `to` lies in `from`, judged by the corners of both: grids that miss each
/// other only past an edge are not found.
bool certainly_apart(const VolumeGrid& from_grid, const VolumeGrid& to_grid);

}  // namespace headrace::imaging
