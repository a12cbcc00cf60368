#pragma once
#include <cstdint>

#include "headrace/transform/tensor_format.hpp"
#include "headrace/transform/volume/voxel_kernel.hpp"

/// Passes over a batch of patches of one size, with one thread for each (item, value): a GPU runs
/// each as one launch for all patches that take part. Arrays lie in the memory of the threads. The
/// row driver gives the same bytes. A patch has fewer than 2³¹ voxels, and so has a window.
namespace headrace::transform {

/// The tensor of a batch: patches of `voxels` values of one channel, one after the other.
struct VolumeTensor {
  std::byte* data;
  Element element;
  std::int64_t voxels;

  HR_HD void store(std::int32_t patch, std::int32_t voxel, float value) const {
    const auto bytes = static_cast<std::int64_t>(bytes_of(element));
    const TensorOut out{data + patch * voxels * bytes, {element, {}}, 1, voxels};
    out.store(0, voxel, value);
  }
};

/// Control values of each row's own spline, (rows, 3, grid + 3): those of a slice at the place of
/// the row.
struct RowControls {
  VolumePlacement p;
  std::int32_t rows, height;
  float* out;
};
struct RowControlValue {
  const RowControls* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const RowControls& k = patches[item];
    const VolumePlacement& p = k.p;
    const std::int32_t edge = p.grid + 3;
    if (i >= k.rows * 3 * edge) return;
    const std::int32_t index = i % edge, axis = i / edge % 3, row = i / (3 * edge);
    const math::SplinePlace slice = grid_place(p, 0, row / k.height);
    const math::SplinePlace place = grid_place(p, 1, row % k.height);
    k.out[i] = combine_controls<float>(p.grid, place, [&](std::int32_t line) HR_LAMBDA {
      return combine_lines<float>(p.grid, p.control[axis], edge * edge, slice, line * edge + index);
    });
  }
};

/// The gather, its labels and the first pass. A patch with later passes has its own memory as dst;
/// any other has a null dst and goes to the tensor.
struct GatheredPatch {
  VolumeKernel kernel;
  const float* row_controls;  ///< of RowControlValue; none without a grid
};
struct VolumeVoxel {
  const GatheredPatch* patches;
  VolumeTensor out;

  HR_HD void operator()(std::int32_t patch, std::int32_t i) const {
    const VolumeKernel& k = patches[patch].kernel;
    const VolumePlacement& p = k.placement;
    const std::int32_t column = i % k.size[2], row = i / k.size[2];
    const std::int32_t slice = row / k.size[1], y = row % k.size[1];
    float at[3];
    for (int axis = 0; axis < 3; ++axis) {
      const float part = row_part(p, axis, slice_part(p, axis, slice), y);
      at[axis] = along_row(p, axis, part, math::to_float(column));
      if (p.grid == 0) continue;
      const math::SplinePlace place = grid_place(p, 2, column);
      const float* controls =
          patches[patch].row_controls + (std::int64_t{row} * 3 + axis) * (p.grid + 3);
      at[axis] = at[axis] + row_cell(p.grid, controls, place.cell)(place.t);
    }
    float v = k.empty ? k.outside : math::trilinear(k.image, at[0], at[1], at[2]);
    v = run_stages(k.stages, v, row, column);
    if (k.dst == nullptr) {
      out.store(patch, i, v);
    } else {
      k.dst[i] = v;
    }
    if (k.dst_labels == nullptr) return;
    std::int32_t label = k.labels.outside;
    if (!k.empty && k.labels.data != nullptr) {
      label = k.whole ? math::nearest_label<false>(k.labels, at[0], at[1], at[2])
                      : math::nearest_label<true>(k.labels, at[0], at[1], at[2]);
    }
    k.dst_labels[i] = static_cast<std::uint8_t>(label);
  }
};

/// A later pass; without a dst it goes to the tensor.
struct StagedPatch {
  VolumeStages stages;
  const PatchStatistics* passes;  ///< of the patch's earlier passes
  const float* src;
  float* dst;
  std::int32_t width, patch;  ///< number in the batch
};
/// Puts statistics into the stages; then applies the stages to each voxel.
struct ResolvedStages {
  const StagedPatch* patches;
  VolumeStages* resolved;

  HR_HD void operator()(std::int32_t item, std::int32_t stage) const {
    const VolumeStages& stages = patches[item].stages;
    VolumeStages& out = resolved[item];
    if (stage < stages.count) {
      out.stage[stage] = resolve(stages.stage[stage], patches[item].passes);
    }
    if (stage != 0) return;
    out.count = stages.count;
    out.key0 = stages.key0;
    out.key1 = stages.key1;
    out.counter3 = stages.counter3;
  }
};
struct StagesVoxel {
  const StagedPatch* patches;
  const VolumeStages* resolved;
  VolumeTensor out;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const StagedPatch& k = patches[item];
    const float v = run_stages(resolved[item], k.src[i], i / k.width, i % k.width);
    if (k.dst == nullptr) {
      out.store(k.patch, i, v);
    } else {
      k.dst[i] = v;
    }
  }
};

/// Sums of each row, then of each slice, then of the patch.
struct SummedPatch {
  const float* src;
  std::int32_t depth, height, width;
  RowSums *rows, *slices;
  PatchStatistics* out;
};
struct RowSumsValue {
  const SummedPatch* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t row) const {
    const SummedPatch& k = patches[item];
    RowLanes lanes;
    for (std::int32_t lane = 0; lane < 8; ++lane) {
      sum_lanes<float>(k.src + std::int64_t{row} * k.width, k.width, k.src[0], lane, lanes);
    }
    k.rows[row] = sums_of(lanes);
  }
};
struct SliceSumsValue {
  const SummedPatch* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t slice) const {
    const SummedPatch& k = patches[item];
    k.slices[slice] = sums_of(k.rows + std::int64_t{slice} * k.height, k.height);
  }
};
struct PatchStatisticsValue {
  const SummedPatch* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t) const {
    const SummedPatch& k = patches[item];
    *k.out = statistics_of(sums_of(k.slices, k.depth),
                           static_cast<double>(k.depth) * k.height * k.width, k.src[0]);
  }
};

/// One axis of the Gaussian, from one memory to the other: x and z from a to b, y back.
struct BlurredVolume {
  VolumeBlurKernel kernel;
  float *a, *b;
};
struct VolumeBlurVoxel {
  const BlurredVolume* patches;
  std::int32_t axis;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const VolumeBlurKernel& k = patches[item].kernel;
    const float* src = axis == 1 ? patches[item].b : patches[item].a;
    float* to = axis == 1 ? patches[item].a : patches[item].b;
    const std::int32_t step = axis == 0 ? k.size[1] * k.size[2] : axis == 1 ? k.size[2] : 1;
    const std::int32_t place = i / step % k.size[axis];
    to[i] = blurred(k, src + (i - place * step), step, k.size[axis], place);
  }
};

/// A voxel of the reduced patch, in b; and one of a, enlarged from it.
struct ReducedVolume {
  LowResolutionKernel kernel;
  float *a, *b;
};
struct ReducedVoxel {
  const ReducedVolume* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const LowResolutionKernel& k = patches[item].kernel;
    if (i >= k.small[0] * k.small[1] * k.small[2]) return;
    const std::int32_t x = i % k.small[2], y = i / k.small[2] % k.small[1];
    const std::int32_t z = i / (k.small[2] * k.small[1]);
    patches[item].b[i] = patches[item].a[reduced_row(k, z, y) * k.size[2] + reduced_index(k, 2, x)];
  }
};
struct EnlargedVoxel {
  const ReducedVolume* patches;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const LowResolutionKernel& k = patches[item].kernel;
    const std::int32_t row = i / k.size[2];
    const ReducedRows between = reduced_rows(k, patches[item].b, row / k.size[1], row % k.size[1]);
    const auto x = enlarged_place(k, 2, i % k.size[2]);
    const std::int32_t right = math::clamp_index(x.index + 1, k.small[2] - 1);
    patches[item].a[i] = math::lerp(between(x.index), between(right), x.part);
  }
};

/// A voxel of a window, smoothed along one axis; counts the voxels that exist.
struct SmoothVoxel {
  const SmoothKernel* windows;

  HR_HD void operator()(std::int32_t item, std::int32_t i) const {
    const SmoothKernel& k = windows[item];
    const std::int32_t width = k.end[2] - k.begin[2], height = k.end[1] - k.begin[1];
    if (i >= width * height * (k.end[0] - k.begin[0])) return;
    const std::int32_t at[3]{k.begin[0] + i / (width * height), k.begin[1] + i / width % height,
                             k.begin[2] + i % width};
    const std::int64_t step = k.axis == 0 ? k.src_slice : k.axis == 1 ? k.src_row : 1;
    const std::int16_t* here = k.src + at[0] * k.src_slice + at[1] * k.src_row + at[2];
    const std::int32_t place = at[k.axis];
    k.dst[at[0] * k.dst_slice + at[1] * k.dst_row + at[2]] =
        smoothed<std::int16_t>(k, [&](std::int32_t tap) HR_LAMBDA {
          const std::int32_t to = smooth_index(k, k.axis, place + tap - k.radius);
          return here[(to - place) * step];
        });
  }
};

}  // namespace headrace::transform
