#include "learn/train/volume/volume_montage.hpp"

#include <algorithm>

#include "learn/report/plane_picture.hpp"
#include "learn/report/plane_sides.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kPicturePixels = 320;

using Axes = std::array<std::int64_t, 3>;

/// Grey values of a patch: the range between its percentiles 0.5 and 99.5, mapped to 0..1. The
/// picture of a patch must not depend on how the run normalises.
std::vector<float> to_grey(const float* values, std::size_t count) {
  std::vector<float> sorted(values, values + count);
  const auto pick = [&](double part) {
    const auto at =
        sorted.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(count - 1));
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  };
  const float low = pick(0.005), high = std::max(pick(0.995), low + 1e-6f);
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = (values[i] - low) / (high - low);
  return out;
}

/// The plane of a patch at `at` along `axis`; the other two axes stay in order.
report::Plane plane_of(const ShownPatch& patch, const std::vector<float>& grey, std::size_t axis,
                       std::int64_t at) {
  const Axes& shape = patch.shape_zyx;
  const std::array<double, 3>& spacing = patch.spacing_mm_zyx;
  const std::size_t rows = axis == 0 ? 1 : 0, columns = axis == 2 ? 1 : 2;
  report::Plane plane;
  plane.height = shape[rows];
  plane.width = shape[columns];
  plane.row_mm = spacing[rows];
  plane.column_mm = spacing[columns];
  for (std::int64_t r = 0; r < plane.height; ++r) {
    // A coronal or sagittal plane has the last slice, the head, on top, as CT is shown.
    const std::int64_t row = axis == 0 ? r : plane.height - 1 - r;
    for (std::int64_t c = 0; c < plane.width; ++c) {
      Axes voxel{};
      voxel[axis] = at;
      voxel[rows] = row;
      voxel[columns] = c;
      const auto i =
          static_cast<std::size_t>((voxel[0] * shape[1] + voxel[1]) * shape[2] + voxel[2]);
      plane.values.push_back(grey[i]);
      plane.truth.push_back(patch.truth[i]);
      plane.predicted.push_back(patch.predicted[i]);
    }
  }
  return plane;
}

/// The slice along each axis with most of the truth; without any, with most of the prediction; else
/// the middle.
Axes centre_of(const ShownPatch& patch) {
  const Axes& shape = patch.shape_zyx;
  for (const std::uint8_t* labels : {patch.truth, patch.predicted.data()}) {
    std::array<std::vector<std::size_t>, 3> counts;
    for (std::size_t axis = 0; axis < 3; ++axis)
      counts[axis].assign(static_cast<std::size_t>(shape[axis]), 0);
    std::size_t sum = 0;
    for (std::int64_t z = 0; z < shape[0]; ++z) {
      for (std::int64_t y = 0; y < shape[1]; ++y) {
        for (std::int64_t x = 0; x < shape[2]; ++x) {
          if (!patch.shown[*labels++]) continue;
          ++counts[0][static_cast<std::size_t>(z)];
          ++counts[1][static_cast<std::size_t>(y)];
          ++counts[2][static_cast<std::size_t>(x)];
          ++sum;
        }
      }
    }
    if (sum == 0) continue;
    Axes out{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      out[axis] = std::max_element(counts[axis].begin(), counts[axis].end()) - counts[axis].begin();
    return out;
  }
  return {shape[0] / 2, shape[1] / 2, shape[2] / 2};
}

}  // namespace

std::vector<MontagePatch::Picture> plane_pictures(const ShownPatch& patch) {
  const Axes& shape = patch.shape_zyx;
  const auto grey = to_grey(patch.values, static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  const Axes centre = centre_of(patch);
  std::vector<MontagePatch::Picture> out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const report::Plane plane = plane_of(patch, grey, axis, centre[axis]);
    out.push_back({report::kPlaneSides[axis].name, report::plane_picture(plane, kPicturePixels)});
  }
  return out;
}

}  // namespace headrace::train
