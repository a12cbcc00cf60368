#include <algorithm>
#include <cmath>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/math/bspline.hpp"
#include "headrace/transform/volume/place_volume.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::transform {
namespace {

/// Margin for the loss of float32 coordinates against these in double.
constexpr double kRounding = 1.0 / 64;
constexpr std::int64_t kMostVoxels = 4096;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
};
using Ranges = std::array<Range, 3>;

Ranges affine_bounds(const Affine3& map, const VolumePatchSpec& patch) {
  Ranges out;
  for (std::size_t i = 0; i < 3; ++i) {
    double low = map.m[4 * i + 3], high = low;
    for (std::size_t j = 0; j < 3; ++j) {
      const double reach = map.m[4 * i + j] * (patch.size_zyx[j] - 1);
      (reach < 0 ? low : high) += reach;
    }
    out[i] = {low, high};
  }
  return out;
}

/// Positions along one axis at which the deformed place is known, and their splines.
struct Nodes {
  std::vector<int> at;
  std::vector<math::SplinePlace> places;
  std::vector<math::SplineWeights<double>> weights;
  int step = 1;

  /// First and last voxel, and nodes a quarter of a cell apart, but at most 34.
  Nodes(int size, int grid) {
    step = std::max({1, size / 33 + (size % 33 != 0), size / (4 * grid)});
    for (int i = 0; i < size - 1; i += step) at.push_back(i);
    at.push_back(size - 1);
    if (size == 1) step = 0;
    for (const int i : at) {
      const double g = (i + 0.5) * grid / size;
      const int cell = std::min(static_cast<int>(g), grid - 1);
      places.push_back({cell, 0.0f});
      weights.push_back(math::spline_weights(g - cell));
    }
  }
};

/// Combines lines of control values at each node: (lines, length) → (nodes, length).
std::vector<double> at_nodes(const Nodes& nodes, const double* lines, std::size_t length) {
  std::vector<double> out(nodes.at.size() * length, 0.0);
  for (std::size_t n = 0; n < nodes.at.size(); ++n) {
    for (std::size_t tap = 0; tap < 4; ++tap) {
      const double weight = nodes.weights[n].w[tap];
      const double* line = lines + (static_cast<std::size_t>(nodes.places[n].cell) + tap) * length;
      for (std::size_t i = 0; i < length; ++i) out[n * length + i] += weight * line[i];
    }
  }
  return out;
}

/// Linear interpolation over a step h errs by h²/8 of the largest second derivative, which for a
/// B-spline is at most the largest second difference of its control values, along each axis; nor by
/// more than the whole variation of the values.
double error_between_nodes(const std::vector<double>& control, std::size_t edge,
                           const std::array<double, 3>& step_cells) {
  const auto [low, high] = std::minmax_element(control.begin(), control.end());
  const std::array<std::size_t, 3> stride{edge * edge, edge, 1};
  double error = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double most = 0;
    for (std::size_t i = 0; i < control.size(); ++i) {
      const std::size_t place = i / stride[axis] % edge;
      if (place == 0 || place + 1 == edge) continue;
      most = std::max(
          most, std::abs(control[i - stride[axis]] - 2 * control[i] + control[i + stride[axis]]));
    }
    error += most * step_cells[axis] * step_cells[axis] / 8;
  }
  return std::min(error, *high - *low);
}

Ranges elastic_bounds(const VolumeParams& params, const Affine3& map, const VolumePatchSpec& patch,
                      const std::array<double, 3>& voxels_per_mm) {
  const int grid = params.elastic.grid;
  const auto edge = static_cast<std::size_t>(grid + 3);
  const std::array<Nodes, 3> nodes{Nodes(patch.size_zyx[0], grid), Nodes(patch.size_zyx[1], grid),
                                   Nodes(patch.size_zyx[2], grid)};
  std::array<double, 3> step_cells;
  for (std::size_t i = 0; i < 3; ++i)
    step_cells[i] = double(nodes[i].step) * grid / patch.size_zyx[i];
  Ranges out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& control = params.elastic.mm[axis];
    const std::vector<double> planes = at_nodes(nodes[0], control.data(), edge * edge);
    for (std::size_t k = 0; k < nodes[0].at.size(); ++k) {
      const std::vector<double> rows = at_nodes(nodes[1], planes.data() + k * edge * edge, edge);
      for (std::size_t j = 0; j < nodes[1].at.size(); ++j) {
        const double* row = rows.data() + j * edge;
        const double base = map.m[4 * axis] * nodes[0].at[k] +
                            map.m[4 * axis + 1] * nodes[1].at[j] + map.m[4 * axis + 3];
        for (std::size_t i = 0; i < nodes[2].at.size(); ++i) {
          const auto& w = nodes[2].weights[i].w;
          const double* c = row + nodes[2].places[i].cell;
          const double mm = w[0] * c[0] + w[1] * c[1] + w[2] * c[2] + w[3] * c[3];
          out[axis].include(base + map.m[4 * axis + 2] * nodes[2].at[i] + mm * voxels_per_mm[axis]);
        }
      }
    }
    const double slack = error_between_nodes(control, edge, step_cells) * voxels_per_mm[axis];
    out[axis].low -= slack;
    out[axis].high += slack;
  }
  return out;
}

}  // namespace

void VolumeGraph::locate(const VolumeParams& params, std::array<double, 3> centre_level_zyx,
                         std::array<double, 3> level_spacing_mm_zyx, VolumeGeometry& out) const {
  std::array<double, 3> voxels_per_mm;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(level_spacing_mm_zyx[i] > 0) || !std::isfinite(centre_level_zyx[i]) ||
        std::abs(centre_level_zyx[i]) > 1e9) {
      fail(ErrorCode::usage,
           "a sample at ({}, {}, {}) of a level of {} × {} × {} mm can't be located",
           centre_level_zyx[0], centre_level_zyx[1], centre_level_zyx[2], level_spacing_mm_zyx[0],
           level_spacing_mm_zyx[1], level_spacing_mm_zyx[2]);
    }
    out.scale_zyx[i] = patch_.spacing_mm_zyx[i] / level_spacing_mm_zyx[i];
    voxels_per_mm[i] = out.scale_zyx[i] / patch_.spacing_mm_zyx[i];
  }
  const Affine3 map = level_map(params, patch_, out.scale_zyx);
  const Ranges ranges = params.elastic.grid == 0
                            ? affine_bounds(map, patch_)
                            : elastic_bounds(params, map, patch_, voxels_per_mm);
  const auto smoothing = smoothing_of(params, out.scale_zyx);
  for (std::size_t i = 0; i < 3; ++i) {
    const double centre = centre_level_zyx[i] - 0.5;
    const auto begin = static_cast<std::int64_t>(std::floor(centre + ranges[i].low - kRounding));
    const auto end = static_cast<std::int64_t>(std::floor(centre + ranges[i].high + kRounding)) + 2;
    out.window.origin_zyx[i] = begin - smoothing[i].radius;
    out.window.size_zyx[i] = end - begin + 2 * smoothing[i].radius;
    if (out.window.size_zyx[i] > kMostVoxels) {
      fail(ErrorCode::usage,
           "a patch needs {} voxels of a level at once along axis {}: expected at most {}. Choose "
           "a coarser level, or a smaller patch or scale",
           out.window.size_zyx[i], "zyx"[i], kMostVoxels);
    }
    out.centre_in_window_zyx[i] = centre_level_zyx[i] - double(out.window.origin_zyx[i]);
  }
}

}  // namespace headrace::transform
