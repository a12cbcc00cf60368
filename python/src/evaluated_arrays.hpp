#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "learn/measure/slide/slide_counts.hpp"
#include "learn/measure/volume/volume_figures.hpp"

namespace headrace::python {

/// Prediction and truth of one image, C-contiguous, in memory of Python's. A slide has depth 1.
struct EvaluatedArrays {
  std::string name;  ///< in errors
  bool slide = false;
  std::array<std::int64_t, 3> shape_zyx{};
  /// One of the two: (z, y, x) class, on slides also 255 where nothing is predicted; or
  /// (classes, z, y, x) probabilities.
  const std::uint8_t* predicted = nullptr;
  const float* probabilities = nullptr;
  const std::uint8_t* truth = nullptr;   ///< (z, y, x) class or class set; 255 not annotated
  const float* lesion_scores = nullptr;  ///< volumes: (z, y, x) 0..1; may be null
  const std::uint8_t* body = nullptr;    ///< volumes: (z, y, x), not 0 is body; null: everywhere
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};  ///< volumes
};

struct MeasuredSlide {
  measure::SlideCounts counts;
  measure::ScoreCounts exact_scores;
};

// Both are cancelled as stop_if_cancelled is. Errors: malformed, with image and place (a label or a
// predicted class that there is not; probabilities that are none).

MeasuredSlide measure_slide_arrays(const EvaluatedArrays& arrays, const measure::SlideRules& rules);

/// Without `lesion_scores` and probabilities a voxel that is predicted to be a lesion has the score
/// 1, and there are no figures of voxels' scores.
/// memory  with probabilities 4 bytes a voxel, with lesions 2, else what measure_volume takes
measure::VolumeFigures measure_volume_arrays(const EvaluatedArrays& arrays,
                                             const measure::VolumeRules& rules);

}  // namespace headrace::python
