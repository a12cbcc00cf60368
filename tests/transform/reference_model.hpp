#pragma once
// A plain double-precision model of what a graph does, written apart from it: positions straight
// from the drawn values, B-spline by de Boor's recursion, no packs, no composition of matrices.
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform::fixtures {

/// Cubic basis function i of knots ..., -1, 0, 1, ... at u (de Boor–Cox).
inline double basis(int i, int degree, double u) {
  if (degree == 0) return u >= i && u < i + 1 ? 1.0 : 0.0;
  return (u - i) / degree * basis(i, degree - 1, u) +
         (i + degree + 1 - u) / degree * basis(i + 1, degree - 1, u);
}

/// Position of output pixel (row, column) in level pixels.
inline std::array<double, 2> position(const SampleParams& params, const PatchSpec& patch,
                                      int context, std::array<double, 2> centre,
                                      std::array<double, 2> mpp, double row, double column) {
  std::map<std::string, double> drawn{{"scale", 1.0}};
  for (const DrawnEntry& entry : params.drawn) {
    if (entry.transform != "affine") continue;
    for (const auto& [name, value] : entry.values) drawn[name] = value;
  }
  const double v_y = context * (row + 0.5 - patch.height / 2.0);
  const double v_x = context * (column + 0.5 - patch.width / 2.0);
  // Scaled and flipped, sheared along x, turned, moved.
  double y = v_y / drawn["scale"] * (drawn["flip_y"] != 0 ? -1 : 1);
  double x = v_x / drawn["scale"] * (drawn["flip_x"] != 0 ? -1 : 1);
  x += std::tan(drawn["shear_deg"] * std::numbers::pi / 180) * y;
  const double angle = drawn["rotate_deg"] * std::numbers::pi / 180;
  double u_x = std::cos(angle) * x - std::sin(angle) * y + drawn["translate_x_px"];
  double u_y = std::sin(angle) * x + std::cos(angle) * y + drawn["translate_y_px"];
  const int grid = params.elastic.grid;
  if (grid > 0) {
    const double g_y = (v_y + patch.height / 2.0) * grid / patch.height;
    const double g_x = (v_x + patch.width / 2.0) * grid / patch.width;
    for (int i = static_cast<int>(std::floor(g_y)) - 4; i <= g_y + 4; ++i) {
      for (int j = static_cast<int>(std::floor(g_x)) - 4; j <= g_x + 4; ++j) {
        // Control value c acts through the basis function that begins at knot c - 3.
        const double w = basis(i - 3, 3, g_y) * basis(j - 3, 3, g_x);
        const int at = std::clamp(i, 0, grid + 2) * (grid + 3) + std::clamp(j, 0, grid + 2);
        u_y += w * params.elastic.y_um[at] / patch.mpp;
        u_x += w * params.elastic.x_um[at] / patch.mpp;
      }
    }
  }
  return {centre[0] + u_y * patch.mpp / mpp[0], centre[1] + u_x * patch.mpp / mpp[1]};
}

using Pixel = std::function<double(std::int64_t y, std::int64_t x, int channel)>;

/// Bilinear value at a position; pixel (0, 0) has its centre at (0.5, 0.5).
inline double bilinear(const Pixel& pixel, std::array<double, 2> at, int channel) {
  const double y = at[0] - 0.5, x = at[1] - 0.5;
  const auto iy = static_cast<std::int64_t>(std::floor(y)),
             ix = static_cast<std::int64_t>(std::floor(x));
  const double ty = y - double(iy), tx = x - double(ix);
  return (pixel(iy, ix, channel) * (1 - tx) + pixel(iy, ix + 1, channel) * tx) * (1 - ty) +
         (pixel(iy + 1, ix, channel) * (1 - tx) + pixel(iy + 1, ix + 1, channel) * tx) * ty;
}

}  // namespace headrace::transform::fixtures
