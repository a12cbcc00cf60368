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

/// One pixel of a later pass.
struct RecolourPixel {
  RecolourKernel k;

  HR_HD void operator()(std::int64_t i) const {
    const std::int64_t plane = std::int64_t{k.height} * k.width;
    math::Rgb<float> noise{0.0f, 0.0f, 0.0f};
    if (k.noise) {
      noise = noise_at(k.stream, static_cast<std::int32_t>(i / k.width),
                       static_cast<std::int32_t>(i % k.width));
    }
    const math::Rgb<float> v{k.dst[i], k.dst[plane + i], k.dst[2 * plane + i]};
    const math::Rgb<float> out = run(k.program, v, noise);
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

/// One value of three planes, blurred along its row into `plane`; and from there along its column
/// into dst. Both run over 3 · height · width values, all of the one before any of the other.
struct BlurRowPixel {
  BlurKernel k;
  float* plane;  ///< (3, height, width)

  HR_HD void operator()(std::int64_t i) const {
    const auto column = static_cast<std::int32_t>(i % k.width);
    const float* row = k.dst + (i - column);
    float sum = 0.0f;
    for (std::int32_t tap = 0; tap <= 2 * k.radius; ++tap) {
      sum = sum + row[mirrored(column + tap - k.radius, k.width)] * k.weights[tap];
    }
    plane[i] = sum;
  }
};
struct BlurColumnPixel {
  BlurKernel k;
  const float* plane;

  HR_HD void operator()(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i / k.width % k.height);
    const float* first = plane + (i - std::int64_t{row} * k.width);
    float sum = 0.0f;
    for (std::int32_t tap = 0; tap <= 2 * k.radius; ++tap) {
      const std::int64_t line = mirrored(row + tap - k.radius, k.height);
      sum = sum + first[line * k.width] * k.weights[tap];
    }
    k.dst[i] = sum;
  }
};

}  // namespace headrace::transform
