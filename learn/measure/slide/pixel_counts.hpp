#pragma once
#include <cstdint>
#include <vector>

#include "learn/measure/base/roc.hpp"

namespace headrace::measure {

/// What SlideMeter counts of a slide's pixels by themselves, made elsewhere: on the GPU that
/// predicted them, say.
struct PixelCounts {
  /// (label values + 1, classes): pixels under a tile by label (the last one: not annotated) and
  /// predicted class.
  std::vector<std::uint64_t> pairs;
  ScoreCounts tumour;   ///< exact scores of the tumour, where the label decides about it
  ScoreCounts highest;  ///< those of Calibration::add_classes, of all annotated pixels,
  std::uint64_t squared_steps = 0;  ///< and its squared errors, in steps of 1/kSquareSteps
};

}  // namespace headrace::measure
