#include "headrace/transform/volume/place_volume.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/transform/gaussian.hpp"

namespace headrace::transform {

Affine3 level_map(const VolumeParams& params, const VolumePatchSpec& patch,
                  const std::array<double, 3>& scale) {
  // Voxel i of the patch has its centre at i + 0.5; the patch's centre is size / 2.
  Affine3 from_centre, to_level;
  for (std::size_t i = 0; i < 3; ++i) {
    from_centre.m[4 * i + 3] = 0.5 - patch.size_zyx[i] / 2.0;
    to_level.m[5 * i] = scale[i];
  }
  return to_level * params.inverse * from_centre;
}

std::array<AxisSmoothing, 3> smoothing_of(const VolumeParams& params,
                                          const std::array<double, 3>& scale) {
  std::array<AxisSmoothing, 3> out;
  for (std::size_t i = 0; i < 3; ++i) {
    const double reduction = scale[i] / params.scale;
    if (!(reduction > 1.5)) continue;
    out[i].sigma = (reduction - 1) / 2;
    out[i].radius =
        std::min(static_cast<int>(std::min(4 * out[i].sigma + 0.5, 1e6)), SmoothKernel::kMaxRadius);
  }
  return out;
}

namespace {

VolumePlacement placement_of(const VolumeParams& params, const VolumePatchSpec& patch,
                             const VolumeGeometry& geometry, ControlVoxels& controls) {
  const Affine3 map = level_map(params, patch, geometry.scale_zyx);
  VolumePlacement p{};
  p.grid = params.elastic.grid;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) p.m[i][j] = static_cast<float>(map.m[4 * i + j]);
    // Tap coordinates: the centre of window voxel 0 is 0, so 0.5 is subtracted.
    p.m[i][3] = static_cast<float>(map.m[4 * i + 3] + geometry.centre_in_window_zyx[i] - 0.5);
    if (p.grid == 0) continue;
    const double size = patch.size_zyx[i];
    p.grid_scale[i] = static_cast<float>(p.grid / size);
    p.grid_offset[i] = static_cast<float>(0.5 * p.grid / size);
    const std::vector<double>& mm = params.elastic.mm[i];
    const double voxels = geometry.scale_zyx[i] / patch.spacing_mm_zyx[i];
    controls[i].assign(mm.size() + math::kMostLanes, 0.0f);  // a pack that begins at the last value
    for (std::size_t k = 0; k < mm.size(); ++k) controls[i][k] = static_cast<float>(mm[k] * voxels);
    p.control[i] = controls[i].data();
  }
  return p;
}

template <typename T>
void check_view(const VolumeView<T>& view, const Box3& window, const char* what) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (view.shape_zyx[i] != window.size_zyx[i]) {
      fail(ErrorCode::internal, "a window of {} voxels of {} along axis {} was given for {}",
           view.shape_zyx[i], what, i, window.size_zyx[i]);
    }
  }
  const auto bytes = static_cast<std::int64_t>(sizeof(T)) * view.slice_stride * view.shape_zyx[0];
  if (bytes > 0x7FFFFFF0) {
    fail(ErrorCode::memory,
         "a window of {} bytes: expected less than 2 GiB. Choose a coarser level, or a smaller "
         "patch",
         bytes);
  }
}

std::int32_t inside(std::int64_t v, std::int64_t most) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, 0, most));
}

}  // namespace

VolumeKernel volume_kernel(const VolumeParams& params, const VolumePatchSpec& patch,
                           const VolumeGeometry& geometry, const VolumeView<std::int16_t>& image,
                           const VolumeView<std::uint8_t>& labels, const Box3& extent,
                           std::uint8_t outside_label, float* dst, std::uint8_t* dst_labels,
                           ControlVoxels& controls) {
  check_view(image, geometry.window, "an image");
  VolumeKernel k{};
  k.placement = placement_of(params, patch, geometry, controls);
  k.image.data = reinterpret_cast<const std::uint8_t*>(image.data);
  k.image.row_stride = static_cast<std::int32_t>(2 * image.row_stride);
  k.image.slice_stride = static_cast<std::int32_t>(2 * image.slice_stride);
  k.stages = params.passes.front().stages;
  k.outside = params.outside;
  k.dst = dst;
  const bool labelled = labels.data != nullptr && dst_labels != nullptr;
  if (labelled) {
    check_view(labels, geometry.window, "labels");
    k.dst_labels = dst_labels;
    k.labels.data = labels.data;
    k.labels.row_stride = static_cast<std::int32_t>(labels.row_stride);
    k.labels.slice_stride = static_cast<std::int32_t>(labels.slice_stride);
    k.labels.outside = outside_label;
  }
  k.whole = true;
  for (std::size_t i = 0; i < 3; ++i) {
    k.size[i] = patch.size_zyx[i];
    const std::int64_t most = geometry.window.size_zyx[i];
    const std::int32_t begin = inside(extent.origin_zyx[i], most);
    const std::int32_t end = inside(extent.origin_zyx[i] + extent.size_zyx[i], most);
    k.empty = k.empty || begin >= end;
    k.whole = k.whole && begin == 0 && end == most;
    k.image.first[i] = static_cast<float>(begin);
    k.image.last[i] = static_cast<float>(std::max(end - 1, begin));
    k.image.last_cell[i] = std::max(end - 2, begin);
    k.labels.first[i] = begin;
    k.labels.last[i] = end - 1;
    if (end - begin < 2) continue;
    if (i == 0) k.image.slice_step = k.image.slice_stride;
    if (i == 1) k.image.row_step = k.image.row_stride;
  }
  return k;
}

SmoothKernel smooth_kernel(const AxisSmoothing& smoothing, int axis, const Box3& extent,
                           const Box3& window) {
  SmoothKernel k{};
  k.axis = axis;
  k.radius = smoothing.radius;
  const std::vector<double> weights = gaussian_weights(smoothing.sigma, k.radius);
  int sum = 0;
  for (int i = 0; i <= 2 * k.radius; ++i) {
    k.weights[i] = static_cast<std::int16_t>(weights[i] * 32768.0 + 0.5);
    sum += k.weights[i];
  }
  k.weights[k.radius] = static_cast<std::int16_t>(k.weights[k.radius] + (32768 - sum));
  for (std::size_t i = 0; i < 3; ++i) {
    k.begin[i] = inside(extent.origin_zyx[i], window.size_zyx[i]);
    k.end[i] = inside(extent.origin_zyx[i] + extent.size_zyx[i], window.size_zyx[i]);
  }
  return k;
}

}  // namespace headrace::transform
