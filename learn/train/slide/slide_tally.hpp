#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "learn/inference/late_counts.hpp"
#include "learn/inference/part_sender.hpp"
#include "learn/measure/slide/pixel_counts.hpp"
#include "learn/measure/slide/slide_counts.hpp"
#include "learn/train/evaluate/tensor_counts.hpp"

namespace headrace::train {

/// Counts the pixels of slides where they are blended, so that their probabilities need not come to
/// the host: what measure::SlideMeter counts of them, to the last one. Scores and squared errors
/// are rounded by its own operations in its own order, and all sums are of integers. One thread.
///
/// memory  on the device 3 MiB, and what finishing parts takes (canvas_memory.hpp)
class SlideTally {
 public:
  explicit SlideTally(const measure::SlideRules& rules);

  /// Parts come image by image. Waits for nothing.
  void add(const inference::PartTensors& parts);
  /// The counts of an image of which all parts were added; images are taken in order, and those
  /// without any part have none. Waits for their device.
  measure::PixelCounts take(std::uint32_t image);

 private:
  /// What a slide's counts begin with, and the rules, on the parts' device.
  void start(const inference::PartTensors& parts);
  /// Sends the counts of the image that is open to the host.
  void close();
  void count_tumour(const inference::PartTensors& parts, const at::Tensor& membership);

  std::size_t classes_, values_;        ///< label values: classes and class sets
  std::vector<bool> is_tumour_;         ///< by class
  at::Tensor value_of_;                 ///< (256): label value; `values_` where it is none
  at::Tensor tumour_of_;                ///< (256): Membership in the tumour, by label
  std::optional<std::uint32_t> image_;  ///< that is open
  at::Tensor pairs_, tumour_;
  TensorCalibration calibration_;
  inference::LateCounts closed_;
};

}  // namespace headrace::train
