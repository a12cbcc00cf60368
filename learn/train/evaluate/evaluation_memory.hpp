#pragma once
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

struct EvaluatedBy {
  int processes = 1;
  /// Tiles may be blended where the network is, so parts may be under way from there.
  bool late = false;
};

/// Bytes of host memory that evaluating a split takes besides the networks, of all processes
/// together: batches in flight, what processes share (gathered_tiles.hpp), and for the image that
/// needs the most, the stitched tiles (stitcher.hpp) and for a volume also its own grid
/// (original_grid.hpp) and its measurement (volume_meter.hpp). Surfaces of structures come in
/// addition, up to 12 bytes a voxel of the box around one.
double evaluation_bytes(const cohort::Cohort& cohort, const config::RunConfig& config,
                        const loader::Preprocessing& preprocessing, const std::string& split,
                        const EvaluatedBy& by);

}  // namespace headrace::train
