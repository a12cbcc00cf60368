#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headrace::inference {

/// Takes a volume's class probabilities from the grid of patches to the volume's own, level 0,
/// slice by slice: linear along each axis. Labels are not resampled, so the truth does not move.
///
/// Voxel j of level 0 has its centre at j + 0.5; the same place on the patch's grid is
/// (j + 0.5) / step - 0.5, step being voxels of level 0 a voxel of the patch. Its value comes from
/// the two voxels around it, at the ends from the last one. With step 1 no value changes. nnU-Net
/// resamples probabilities with order 1 as well (skimage.transform.resize, mode edge), but takes
/// the nearest slice where spacing differs by more than 3; here all axes are linear.
///
/// memory  two slices of level 0 × classes, and one of the patch's height × level 0's width, floats
class OriginalGrid {
 public:
  using Axes = std::array<std::int64_t, 3>;
  /// Slice z of level 0: probabilities (classes, y, x), valid until the next slice.
  using Sink = std::function<void(std::int64_t z, std::span<const float> probabilities)>;

  OriginalGrid(std::size_t classes, const Axes& patch_shape_zyx, const Axes& shape_zyx,
               const std::array<double, 3>& step_zyx, Sink sink);

  /// The next slice of the patch's grid, z from 0 on: (classes, y, x). Voxels whose probabilities
  /// are all 0, because there was no window, count as class 0 with certainty: all that is not
  /// covered is background.
  void add(std::span<const float> probabilities);
  /// Whether all slices were given, and so all slices of level 0 were delivered.
  bool complete() const noexcept { return given_ == patch_[0]; }

  /// The two voxels from which a voxel of level 0 takes its value, and the part of the second; the
  /// same one twice where that is 0.
  struct Between {
    std::int64_t low = 0, high = 0;
    float part = 0;
  };
  /// Of every voxel of level 0 along an axis.
  static std::vector<Between> along(std::int64_t patch, std::int64_t level0, double step);

 private:
  void widen(std::span<const float> probabilities);

  std::size_t classes_;
  Axes patch_, shape_;
  std::array<std::vector<Between>, 3> between_;
  Sink sink_;
  std::int64_t given_ = 0, next_ = 0;
  std::vector<float> rows_;                  ///< (y of the patch, x of level 0) of one class
  std::vector<float> low_, high_, blended_;  ///< (classes, y, x) of level 0
};

}  // namespace headrace::inference
