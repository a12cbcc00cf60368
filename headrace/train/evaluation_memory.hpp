#pragma once
#include <string>

#include "headrace/loader/preprocessing.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::train {

/// Bytes of host memory that judging a split takes beside the network: batches on their way, and
/// for the image that needs most the tiles that are stitched (stitcher.hpp), of a volume also its
/// own grid (original_grid.hpp) and what is measured on it (volume_meter.hpp). Surfaces of
/// structures come on top, up to 12 bytes a voxel of the box around one.
double evaluation_bytes(const source::Cohort& cohort, const loader::RunConfig& config,
                        const loader::Preprocessing& preprocessing, const std::string& split);

}  // namespace headrace::train
