#pragma once
#include <cstdint>

#include "headrace/math/clamp.hpp"

namespace headrace::math {

/// Weights of the four control values around position t of a cell of a uniform cubic B-spline.
///
/// source  de Boor, A Practical Guide to Splines, 1978; uniform cubic case
/// range   t in [0, 1]; weights in [0, 2/3], their sum 1 to rounding
template <typename T>
struct SplineWeights {
  T w[4];
};
template <typename T>
HR_HD SplineWeights<T> spline_weights(T t) {
  const T sixth = T(1) / T(6);
  const T s = T(1) - t;
  return {{s * s * s * sixth, (T(4) - t * t * (T(6) - T(3) * t)) * sixth,
           (T(4) - s * s * (T(6) - T(3) * s)) * sixth, t * t * t * sixth}};
}

/// One cell of a uniform cubic B-spline as a polynomial of the position in the cell.
template <typename T>
struct SplineCell {
  T a[4];

  template <typename F>
  HR_HD F operator()(F t) const {
    return ((t * a[3] + a[2]) * t + a[1]) * t + a[0];
  }
};
template <typename T>
HR_HD SplineCell<T> spline_cell(T c0, T c1, T c2, T c3) {
  const T sixth = T(1) / T(6);
  return {{(c0 + T(4) * c1 + c2) * sixth, (c2 - c0) * T(0.5), (c0 - (c1 + c1) + c2) * T(0.5),
           ((c3 - c0) + T(3) * (c1 - c2)) * sixth}};
}

/// Cell and position in it of grid coordinate g; cells run from -3, where every control value is
/// that of the border, to `grid` + 3.
struct SplinePlace {
  std::int32_t cell;
  float t;
};
HR_HD SplinePlace spline_place(float g, std::int32_t grid) {
  const float limited = clamp(g, -3.0f, to_float(grid + 3));
  const std::int32_t cell = to_int(limited + 3.0f) - 3;
  return {cell, limited - to_float(cell)};
}

/// Index into the grid + 3 control values of a row or column of the `tap`-th (0..3) that acts on a
/// cell; the border's value stands for those beyond it.
HR_HD std::int32_t spline_control(std::int32_t cell, std::int32_t tap, std::int32_t grid) {
  return clamp_index(cell + tap, grid + 2);
}

}  // namespace headrace::math
