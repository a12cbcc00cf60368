#pragma once
#include <cstdint>

#include "learn/measure/base/roc.hpp"

namespace headrace::measure {

/// What VolumeMeter counts of a volume's voxels in the body by their probabilities, made elsewhere:
/// on the GPU that predicted them, say.
struct VoxelCounts {
  ScoreCounts lesion;   ///< scores of the lesion classes, where the label decides about them
  ScoreCounts highest;  ///< those of Calibration::add_classes, of all annotated voxels
  std::uint64_t squared_steps = 0;  ///< its squared errors, in steps of 1/kSquareSteps
};

}  // namespace headrace::measure
