#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/measure/volume/volume_figures.hpp"
#include "learn/measure/volume/voxel_counts.hpp"

namespace headrace::measure {

/// Takes one volume after the other, slice by slice along z, and measures each when it is complete.
/// memory  four bytes a voxel of the volume, and what measure_volume takes
class VolumeMeter {
 public:
  explicit VolumeMeter(VolumeRules rules);

  void start(const std::array<std::int64_t, 3>& shape_zyx,
             const std::array<double, 3>& spacing_mm_zyx);
  /// The next slice. The class of the highest probability (the lower of equals) is the prediction.
  ///
  /// in  probabilities  (classes, y, x), summing up to 1
  ///     truth          (y, x) class or class set, 255 not annotated; empty: nothing is
  ///     body           (y, x), not 0 is body: where calibration and AUC are counted; as `truth`
  void add(std::span<const float> probabilities, std::span<const std::uint8_t> truth,
           std::span<const std::uint8_t> body);
  /// The next slice, whose probabilities are counted elsewhere: then add_counts before `finish`.
  ///
  /// in  predicted  (y, x) class
  ///     truth      (y, x) as in `add`, 255 where nothing is annotated
  ///     lesion     (y, x) as PredictedVolume::lesion; empty without lesion classes
  void add_classes(std::span<const std::uint8_t> predicted, std::span<const std::uint8_t> truth,
                   std::span<const std::uint16_t> lesion);
  /// What the slice that was added last is counted as, to be changed before the next: its classes
  /// and, with lesion classes, its lesion scores.
  struct Calls {
    std::span<std::uint8_t> predicted;
    std::span<std::uint16_t> lesion;
  };
  Calls last_slice();
  void add_counts(const VoxelCounts& counts);
  /// Of the volume since `start`. Errors: those of measure_volume; internal (slices are missing).
  VolumeFigures finish();

 private:
  VolumeRules rules_;
  std::vector<Membership> lesion_membership_;  ///< by label value
  std::vector<ClassMask> true_classes_;        ///< by label value; none: no statement
  PredictedVolume volume_;
  Calibration calibration_;
  ScoreCounter scores_;
};

}  // namespace headrace::measure
