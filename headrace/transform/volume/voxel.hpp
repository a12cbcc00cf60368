#pragma once
#include "headrace/transform/volume/kernel.hpp"

/// One thread a value: what a GPU runs. The row driver gives the same bytes.
namespace headrace::transform {

/// Control values of each row's own spline, (rows, 3, grid + 3): those of a slice at the place of
/// the row.
struct RowControlValue {
  VolumePlacement p;
  std::int32_t height;
  float* out;

  HR_HD void operator()(std::int64_t i) const {
    const std::int32_t edge = p.grid + 3;
    const auto index = static_cast<std::int32_t>(i % edge);
    const auto axis = static_cast<int>(i / edge % 3);
    const auto row = static_cast<std::int32_t>(i / (3 * edge));
    const math::SplinePlace slice = grid_place(p, 0, row / height);
    const math::SplinePlace place = grid_place(p, 1, row % height);
    const math::SplineWeights<float> w = math::spline_weights(place.t);
    float sum = 0.0f;
    for (int tap = 0; tap < 4; ++tap) {
      const std::int32_t line = math::spline_control(place.cell, tap, p.grid) * edge;
      sum = sum +
            combine_lines<float>(p, p.control[axis], edge * edge, slice, line + index) * w.w[tap];
    }
    out[i] = sum;
  }
};

/// The gather, its labels and the first pass.
struct VolumeVoxel {
  VolumeKernel k;
  const float* row_controls;  ///< of RowControlValue; none without a grid

  HR_HD void operator()(std::int64_t i) const {
    const VolumePlacement& p = k.placement;
    const auto column = static_cast<std::int32_t>(i % k.size[2]);
    const auto row = static_cast<std::int32_t>(i / k.size[2]);
    const std::int32_t slice = row / k.size[1], y = row % k.size[1];
    float at[3];
    for (int axis = 0; axis < 3; ++axis) {
      const float part = row_part(p, axis, slice_part(p, axis, slice), y);
      at[axis] = along_row(p, axis, part, math::to_float(column));
      if (p.grid == 0) continue;
      const math::SplinePlace place = grid_place(p, 2, column);
      const float* controls = row_controls + (std::int64_t{row} * 3 + axis) * (p.grid + 3);
      at[axis] = at[axis] + cell_of_row(p, controls, place.cell)(place.t);
    }
    const float v = k.empty ? -1024.0f : math::trilinear(k.image, at[0], at[1], at[2]);
    k.dst[i] = run_stages(k.stages, v, row, column);
    if (k.dst_labels == nullptr) return;
    std::int32_t label = k.labels.outside;
    if (!k.empty) {
      label = k.whole ? math::nearest_label<false>(k.labels, at[0], at[1], at[2])
                      : math::nearest_label<true>(k.labels, at[0], at[1], at[2]);
    }
    k.dst_labels[i] = static_cast<std::uint8_t>(label);
  }
};

/// A later pass; its stages lie in memory, since they hold what an earlier pass found.
struct StagesVoxel {
  const VolumeStages* stages;
  std::int32_t width;
  float* dst;

  HR_HD void operator()(std::int64_t i) const {
    dst[i] = run_stages(*stages, dst[i], static_cast<std::int32_t>(i / width),
                        static_cast<std::int32_t>(i % width));
  }
};

/// Sums of one row; of all rows; and stages with their statistics put in.
struct RowSumsValue {
  const float* dst;
  std::int32_t width;
  RowSums* rows;

  HR_HD void operator()(std::int64_t row) const {
    RowLanes lanes;
    for (std::int32_t lane = 0; lane < 8; ++lane) {
      sum_lanes<float>(dst + row * width, width, dst[0], lane, lanes);
    }
    rows[row] = sums_of(lanes);
  }
};
struct PatchStatisticsValue {
  const RowSums* rows;
  std::int32_t count, width;
  const float* dst;
  PatchStatistics* out;

  HR_HD void operator()(std::int64_t) const { *out = statistics_of(rows, count, width, dst[0]); }
};
struct ResolvedStages {
  VolumeStages stages;
  const PatchStatistics* passes;
  VolumeStages* out;

  HR_HD void operator()(std::int64_t) const {
    *out = stages;
    for (std::int32_t i = 0; i < stages.count; ++i) {
      out->stage[i] = resolve(stages.stage[i], passes);
    }
  }
};

/// One axis of the Gaussian, from one patch to another.
struct VolumeBlurVoxel {
  VolumeBlurKernel k;
  int axis;
  const float* src;
  float* to;

  HR_HD void operator()(std::int64_t i) const {
    const std::int64_t plane = std::int64_t{k.size[1]} * k.size[2];
    const std::int64_t step = axis == 0 ? plane : axis == 1 ? k.size[2] : 1;
    const auto place = static_cast<std::int32_t>(i / step % k.size[axis]);
    const float* first = src + (i - place * step);
    float sum = 0.0f;
    for (std::int32_t tap = 0; tap <= 2 * k.radius; ++tap) {
      const std::int64_t at = mirrored(place + tap - k.radius, k.size[axis]);
      sum = sum + first[at * step] * k.weights[tap];
    }
    to[i] = sum;
  }
};

/// A voxel of the reduced patch; and one enlarged from it.
struct ReducedVoxel {
  LowResolutionKernel k;
  float* small;

  HR_HD void operator()(std::int64_t i) const {
    const auto x = static_cast<std::int32_t>(i % k.small[2]);
    const auto y = static_cast<std::int32_t>(i / k.small[2] % k.small[1]);
    const auto z = static_cast<std::int32_t>(i / (std::int64_t{k.small[2]} * k.small[1]));
    const std::int64_t row =
        std::int64_t{reduced_index(k, 0, z)} * k.size[1] + reduced_index(k, 1, y);
    small[i] = k.dst[row * k.size[2] + reduced_index(k, 2, x)];
  }
};
struct EnlargedVoxel {
  LowResolutionKernel k;
  const float* small;

  HR_HD void operator()(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i / k.size[2]);
    const auto px = enlarged_place(k, 2, static_cast<std::int32_t>(i % k.size[2]));
    const auto py = enlarged_place(k, 1, row % k.size[1]);
    const auto pz = enlarged_place(k, 0, row / k.size[1]);
    const std::int64_t plane = std::int64_t{k.small[1]} * k.small[2];
    const float* near = small + pz.index * plane;
    const float* far = near + (pz.index + 1 < k.small[0] ? plane : 0);
    const std::int64_t upper = std::int64_t{py.index} * k.small[2];
    const std::int64_t lower = upper + (py.index + 1 < k.small[1] ? k.small[2] : 0);
    float side[2];
    for (int j = 0; j < 2; ++j) {
      const std::int64_t x = math::clamp_index(px.index + j, k.small[2] - 1);
      side[j] = math::between_rows(near[upper + x], near[lower + x], far[upper + x], far[lower + x],
                                   py.part, pz.part);
    }
    k.dst[i] = math::lerp(side[0], side[1], px.part);
  }
};

/// A voxel of the window, smoothed along one axis; counts the voxels that exist.
struct SmoothVoxel {
  SmoothKernel k;

  HR_HD void operator()(std::int64_t i) const {
    const std::int64_t width = k.end[2] - k.begin[2], height = k.end[1] - k.begin[1];
    std::int32_t at[3]{k.begin[0] + static_cast<std::int32_t>(i / (width * height)),
                       k.begin[1] + static_cast<std::int32_t>(i / width % height),
                       k.begin[2] + static_cast<std::int32_t>(i % width)};
    std::int16_t* out = k.dst + at[0] * k.dst_slice + at[1] * k.dst_row + at[2];
    const std::int32_t place = at[k.axis];
    std::int32_t sum = 0;
    for (std::int32_t tap = 0; tap <= 2 * k.radius; ++tap) {
      const std::int32_t to = place + tap - k.radius;
      at[k.axis] =
          to < k.begin[k.axis] ? k.begin[k.axis] : (to >= k.end[k.axis] ? k.end[k.axis] - 1 : to);
      sum += k.src[at[0] * k.src_slice + at[1] * k.src_row + at[2]] * std::int32_t{k.weights[tap]};
    }
    *out = static_cast<std::int16_t>(smooth_rounded(sum));
  }
};

}  // namespace headrace::transform
