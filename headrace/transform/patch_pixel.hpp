#pragma once
#include "headrace/transform/patch_kernel.hpp"

namespace headrace::transform {

/// Tap coordinates of one output pixel, computed alone: what the row driver gets in its row phases,
/// bit for bit.
struct TapCoordinates {
  float y, x;
};
HR_HD TapCoordinates taps_of(const Placement& p, std::int32_t row, std::int32_t column) {
  const float r = math::to_float(row), c = math::to_float(column);
  TapCoordinates at{along_row(p.y_column, along_row(p.y_row, p.y_offset, r), c),
                    along_row(p.x_column, along_row(p.x_row, p.x_offset, r), c)};
  if (p.grid == 0) return at;
  const math::SplinePlace py = row_place(p, row), px = column_place(p, column);
  float cy[4], cx[4];
  for (int tap = 0; tap < 4; ++tap) {
    const std::int32_t index = math::spline_control(px.cell, tap, p.grid);
    cy[tap] = row_control<float>(p, p.control_y, py, index);
    cx[tap] = row_control<float>(p, p.control_x, py, index);
  }
  at.y = at.y + math::spline_cell(cy[0], cy[1], cy[2], cy[3])(px.t);
  at.x = at.x + math::spline_cell(cx[0], cx[1], cx[2], cx[3])(px.t);
  return at;
}

/// One thread a pixel: what a GPU runs. The row driver gives the same bytes.
struct PatchPixel {
  PatchKernel k;

  HR_HD void operator()(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i / k.width);
    const auto column = static_cast<std::int32_t>(i % k.width);
    const TapCoordinates at = taps_of(k.placement, row, column);
    const math::Rgb<float> v = k.whole ? math::bilinear_rgb<false>(k.window, at.y, at.x)
                                       : math::bilinear_rgb<true>(k.window, at.y, at.x);
    math::Rgb<float> noise{0.0f, 0.0f, 0.0f};
    if (k.noise) noise = noise_at(k.stream, row, column);
    const math::Rgb<float> out = run(k.program, v, noise);
    const std::int64_t plane = std::int64_t{k.height} * k.width;
    k.dst[i] = out.r;
    k.dst[plane + i] = out.g;
    k.dst[2 * plane + i] = out.b;
  }
};

struct LabelPixel {
  LabelKernel k;

  HR_HD void operator()(std::int64_t i) const {
    const TapCoordinates at = taps_of(k.placement, static_cast<std::int32_t>(i / k.width),
                                      static_cast<std::int32_t>(i % k.width));
    k.dst[i] = static_cast<std::uint8_t>(math::nearest_byte(k.window, at.y, at.x, k.outside));
  }
};

}  // namespace headrace::transform
