#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "learn/inference/late_counts.hpp"
#include "learn/inference/part_sender.hpp"
#include "learn/measure/volume/volume_figures.hpp"
#include "learn/measure/volume/voxel_counts.hpp"
#include "learn/train/evaluate/tensor_counts.hpp"

namespace headrace::train {

/// Counts the voxels of volumes where they were predicted, so that their probabilities need not
/// come to the host: what measure::VolumeMeter counts and keeps of them, to the last bit. One
/// thread.
///
/// memory  on the device 2 MiB, and what finishing slices takes (canvas_memory.hpp)
class VolumeTally {
 public:
  explicit VolumeTally(const measure::VolumeRules& rules);

  /// Slices of level 0 come image by image. body: (slices, pixels) uint8, not 0 is body; undefined:
  /// it is nowhere. Gives PredictedVolume::lesion of them, (slices, pixels) int32, 0 where nothing
  /// is said; undefined if that is everywhere. Waits for nothing.
  at::Tensor add(const inference::PartTensors& slices, const at::Tensor& body);
  /// The counts of an image of which all slices were added; images are taken in order. Waits for
  /// their device.
  measure::VoxelCounts take(std::uint32_t image);

 private:
  /// What a volume's counts begin with, and the rules, on the slices' device.
  void start(const inference::PartTensors& slices);
  /// Sends the counts of the image that is open to the host.
  void close();

  std::vector<std::uint8_t> lesion_classes_;  ///< rising
  at::Tensor stated_;                         ///< (256): whether the label states classes
  at::Tensor lesion_of_;                      ///< (256) int32: Membership in the lesions, by label
  std::optional<std::uint32_t> image_;        ///< that is open
  at::Tensor lesion_;
  TensorCalibration calibration_;
  inference::LateCounts closed_;
};

}  // namespace headrace::train
