#pragma once
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/preprocessing.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::train {

/// Bytes of host memory that evaluating a split takes besides the network: batches in flight, and
/// for the image that needs the most, the stitched tiles (stitcher.hpp) and for a volume also its
/// own grid (original_grid.hpp) and its measurement (volume_meter.hpp). Surfaces of structures come
/// in addition, up to 12 bytes a voxel of the box around one. late: tiles may be blended where the
/// network is, so parts may be under way from there (late_parts.hpp).
double evaluation_bytes(const cohort::Cohort& cohort, const loader::RunConfig& config,
                        const loader::Preprocessing& preprocessing, const std::string& split,
                        bool late);

}  // namespace headrace::train
