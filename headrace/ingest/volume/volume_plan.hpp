#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/slice_places.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {

using Shape3 = std::array<std::int64_t, 3>;  ///< z, y, x

inline std::int64_t voxels_of(const Shape3& shape) { return shape[0] * shape[1] * shape[2]; }

/// One level of the stored pyramid.
struct VolumeLevelPlan {
  Shape3 shape_zyx{};
  Shape3 factor_zyx{1, 1, 1};  ///< voxels of level 0 along the edge of one of this level: 1 or 2^k
};

/// All decisions about a volume that are made before a voxel is read. The same for any number of
/// threads.
struct VolumePlan {
  imaging::VolumeGrid grid;       ///< of level 0, in canonical order
  imaging::VolumeGrid file_grid;  ///< that of the file, for the way back
  imaging::AxisMap from_file;     ///< how the axes of `grid` lie on those of `file_grid`
  imaging::SlicePlaces slices;    ///< where those of the source lie, on `grid`
  std::vector<VolumeLevelPlan> levels;
  std::int64_t chunk = 0, shard = 0;  ///< edges in voxels
  VolumeCodec codec = VolumeCodec::blosc_lz4;
  int clevel = 0;
  std::size_t align = 1;  ///< inner chunks of the image begin at multiples of it

  /// Spacing of level 0, tidy; all computation uses this one.
  std::array<double, 3> spacing_mm_zyx() const { return imaging::tidy_spacing_mm_zyx(grid); }
  /// zarr.json of a level of a channel in this unit, and of one of the label image.
  zarr::ArrayMetadata image_array(int level, IntensityUnit unit = IntensityUnit::hu) const;
  zarr::ArrayMetadata label_array(int level) const;
  /// zarr.json of a mask of level 0.
  zarr::ArrayMetadata mask_array() const { return label_array(0); }
};

/// Brings the grid of a file into canonical order; whatever the file's order was, the plan is the
/// same except for `file_grid` and `from_file`. Levels halve every axis whose spacing is below 1.5
/// times the smallest, until one fits into 64 voxels on each axis. Errors: usage (chunk, shard,
/// clevel).
VolumePlan plan_volume(const imaging::VolumeGrid& file, const VolumeIngestOptions& options);

/// Checks the options that plan_volume takes, before there is a volume. Errors: usage.
void check_volume_chunks(const VolumeIngestOptions& options);

}  // namespace headrace::ingest
