#pragma once
#include <cstdint>
#include <type_traits>

#include "headrace/math/bspline.hpp"
#include "headrace/math/trilinear.hpp"
#include "headrace/transform/taps.hpp"
#include "headrace/transform/volume/intensity_program.hpp"

namespace headrace::transform {

/// Output voxel (slice, row, column) → tap coordinates in the window, axis by axis: affine plus
/// elastic displacement, in float32 relative to the window.
struct VolumePlacement {
  /// For each of z, y, x: c = column·m[2] + (row·m[1] + (slice·m[0] + m[3])).
  float m[3][4];
  std::int32_t grid;  ///< cells along each axis; 0: no elastic deformation
  float grid_scale[3], grid_offset[3];
  const float* control[3];  ///< (grid + 3)³ window voxels, z, y, x
};

HR_HD float slice_part(const VolumePlacement& p, int axis, std::int32_t slice) {
  return math::to_float(slice) * p.m[axis][0] + p.m[axis][3];
}
HR_HD float row_part(const VolumePlacement& p, int axis, float slice_part, std::int32_t row) {
  return math::to_float(row) * p.m[axis][1] + slice_part;
}
template <typename F>
HR_HD F along_row(const VolumePlacement& p, int axis, float row_part, F column) {
  return column * p.m[axis][2] + row_part;
}

/// Place of a slice, row or column (axis 0, 1, 2) in the grid of control values.
HR_HD math::SplinePlace grid_place(const VolumePlacement& p, int axis, std::int32_t index) {
  return math::spline_place(math::to_float(index) * p.grid_scale[axis] + p.grid_offset[axis],
                            p.grid);
}

/// All inputs of the gather: the image, its labels where there are any, and the first pass.
struct VolumeKernel {
  VolumePlacement placement;
  math::VoxelWindow image;
  bool empty;     ///< the level has no voxel of the window: the image reads as `outside`
  float outside;  ///< a stored value
  bool whole;     ///< the level has every voxel of the window
  math::LabelVolume labels;
  VolumeStages stages;
  std::int32_t size[3];
  float* dst;                ///< (depth, height, width)
  std::uint8_t* dst_labels;  ///< null: no labels
};

/// A later pass over the output of an earlier one.
struct VolumeStagesKernel {
  VolumeStages stages;
  std::int32_t size[3];
  float* dst;
};

/// One separable Gaussian over dst, borders mirrored about the outermost voxel centres.
struct VolumeBlurKernel {
  static constexpr int kMaxRadius = 32;
  std::int32_t radius;
  float weights[2 * kMaxRadius + 1];
  std::int32_t size[3];
  float* dst;
};

/// Reduction to the nearest voxels, and linear enlargement back. Sizes are measured between outer
/// edges, so that voxel i of n covers [i / n, (i + 1) / n).
struct LowResolutionKernel {
  std::int32_t size[3], small[3];
  float reduce[3], enlarge[3];  ///< size / small, small / size
  float* dst;
};
/// The voxel that a small one takes.
HR_HD std::int32_t reduced_index(const LowResolutionKernel& k, int axis, std::int32_t small) {
  return math::clamp_index(math::to_int((math::to_float(small) + 0.5f) * k.reduce[axis]),
                           k.size[axis] - 1);
}
/// The row of the patch that a row of the reduced one takes.
HR_HD std::int32_t reduced_row(const LowResolutionKernel& k, std::int32_t z, std::int32_t y) {
  return reduced_index(k, 0, z) * k.size[1] + reduced_index(k, 1, y);
}
/// The small voxels around a voxel.
HR_HD math::TapPlace<float> enlarged_place(const LowResolutionKernel& k, int axis, std::int32_t i) {
  const float c = math::clamp((math::to_float(i) + 0.5f) * k.enlarge[axis] - 0.5f, 0.0f,
                              math::to_float(k.small[axis] - 1));
  const std::int32_t index = math::to_int(c);
  return {index, c - math::to_float(index)};
}
/// The four rows of the reduced patch around a row of the patch.
struct ReducedRows {
  const float *near_upper, *near_lower, *far_upper, *far_lower;
  float along_y, along_z;

  /// The value between them in one of their columns.
  HR_HD float operator()(std::int32_t x) const {
    return math::between_rows(near_upper[x], near_lower[x], far_upper[x], far_lower[x], along_y,
                              along_z);
  }
};
HR_HD ReducedRows reduced_rows(const LowResolutionKernel& k, const float* reduced, std::int32_t z,
                               std::int32_t y) {
  const auto pz = enlarged_place(k, 0, z), py = enlarged_place(k, 1, y);
  const std::int32_t row = k.small[2], slice = k.small[1] * row;
  const float* upper = reduced + (pz.index * slice + py.index * row);
  const float* lower = upper + (py.index + 1 < k.small[1] ? row : 0);
  const std::int32_t far = pz.index + 1 < k.small[0] ? slice : 0;
  return {upper, lower, upper + far, lower + far, py.part, pz.part};
}

/// One axis of the smoothing of a window that is read at a coarser spacing; weights in 1/32768, in
/// integers, so that order does not matter. A voxel that does not exist counts as the nearest one
/// that does.
struct SmoothKernel {
  static constexpr int kMaxRadius = 64;
  std::int32_t axis, radius;
  std::int16_t weights[2 * kMaxRadius + 1];
  std::int32_t begin[3], end[3];  ///< voxels of the window that exist
  const std::int16_t* src;
  std::int64_t src_row, src_slice;  ///< elements
  std::int16_t* dst;
  std::int64_t dst_row, dst_slice;
};
/// The index along an axis that is read for index i.
HR_HD std::int32_t smooth_index(const SmoothKernel& k, int axis, std::int32_t i) {
  return i < k.begin[axis] ? k.begin[axis] : (i >= k.end[axis] ? k.end[axis] - 1 : i);
}
/// A smoothed voxel, or a pack of them: value(tap) is tap 0 to 2 · radius of each. S: std::int16_t,
/// v8s or v16s.
template <typename S, typename Value>
HR_HD S smoothed(const SmoothKernel& k, const Value& value) {
  auto sums = math::ProductSums<S>::splat(1 << 14);  // half of what is shifted out: rounds
  const std::int32_t last = 2 * k.radius;
  for (std::int32_t tap = 0; tap < last; tap += 2) {
    sums.add(value(tap), value(tap + 1), k.weights + tap);
  }
  const std::int16_t alone[2]{k.weights[last], 0};
  sums.add(value(last), S{}, alone);
  return sums.shifted(15);
}

static_assert(std::is_trivially_copyable_v<VolumeKernel> &&
              std::is_trivially_copyable_v<VolumeStagesKernel> &&
              std::is_trivially_copyable_v<VolumeBlurKernel> &&
              std::is_trivially_copyable_v<LowResolutionKernel> &&
              std::is_trivially_copyable_v<SmoothKernel>);

}  // namespace headrace::transform
