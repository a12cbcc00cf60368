#pragma once
#include <array>

#include "headrace/transform/slide/colour_affine.hpp"

namespace headrace::transform {

/// A row-major 3×3 matrix on colours, in double.
using Mat3 = std::array<double, 9>;

inline Mat3 multiply(const Mat3& a, const Mat3& b) {
  Mat3 out{};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      out[r * 3 + c] = a[r * 3] * b[c] + a[r * 3 + 1] * b[3 + c] + a[r * 3 + 2] * b[6 + c];
    }
  }
  return out;
}

inline Mat3 transpose(const Mat3& a) {
  return {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]};
}

/// Inverse by cofactors; the matrices here are constants of good condition.
inline Mat3 inverse(const Mat3& a) {
  const double c00 = a[4] * a[8] - a[5] * a[7], c01 = a[5] * a[6] - a[3] * a[8],
               c02 = a[3] * a[7] - a[4] * a[6];
  const double d = 1.0 / (a[0] * c00 + a[1] * c01 + a[2] * c02);
  return {c00 * d, (a[2] * a[7] - a[1] * a[8]) * d, (a[1] * a[5] - a[2] * a[4]) * d,
          c01 * d, (a[0] * a[8] - a[2] * a[6]) * d, (a[2] * a[3] - a[0] * a[5]) * d,
          c02 * d, (a[1] * a[6] - a[0] * a[7]) * d, (a[0] * a[4] - a[1] * a[3]) * d};
}

inline ColourAffine affine_of(const Mat3& linear, const std::array<double, 3>& shift) {
  return {{linear[0], linear[1], linear[2], shift[0], linear[3], linear[4], linear[5], shift[1],
           linear[6], linear[7], linear[8], shift[2]}};
}

}  // namespace headrace::transform
