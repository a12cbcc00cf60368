#pragma once
#include "headrace/math/clamp.hpp"

namespace headrace::math {

/// Base-2 logarithm of a positive normal number; exact at powers of two, and rounding never puts a
/// result above that of a larger argument where the pieces join.
///
/// source  log2(1+t) = t + t(1-t)·Q(t), Q by Lawson's minimax fit of degree 4 on [0, 1)
/// range   x in [2^-126, 2^127]; out [-126, 127]
/// error   3.5e-6 absolute against float64 over [2^-32, 2^16] (Polynomials.Log2)
/// NaN     never: NaN and numbers outside the range give the log2 of their exponent and mantissa
/// bits
template <typename F>
HR_HD F log2_of(F x) {
  const auto bits = bits_of(x);
  const F exponent = to_float(((bits >> 23) & 255) - 127);
  const F t = float_of((bits & 0x007FFFFF) | 0x3F800000) - 1.0f;
  const F square = t * t;
  const F low = t * -0.27560031f + 0.44254494f;
  const F high = t * -0.095956445f + 0.18194887f;
  const F q = low + square * (high + square * 0.025841443f);
  return exponent + (t + (t - square) * q);
}

/// 2 to the power x.
///
/// source  2^x = 2^round(x) · P(x - round(x)), P by Lawson's minimax fit of degree 4 with P(0) = 1
/// range   x in [-126, 126], clamped to it
/// error   3.5e-6 relative against float64 (Polynomials.Exp2)
/// NaN     never: NaN gives 2^-126
template <typename F>
HR_HD F exp2_of(F x) {
  const F limited = clamp_to(x, -126.0f, 126.0f);
  const F shifted = limited + 12582912.0f;  // 1.5 · 2^23: the sum's low bits are round(x)
  const F f = limited - (shifted - 12582912.0f);
  const F square = f * f;
  const F low = f * 0.69312418f + 1.0f;
  const F high = f * 0.055906426f + 0.24024099f;
  const F p = low + square * (high + square * 0.009582853f);
  return p * float_of((bits_of(shifted) << 23) + 0x3F800000);
}

/// Sine and cosine of an angle in turns.
///
/// source  odd and even Lawson minimax fits of three terms
/// range   turns in [0, 1/8]
/// error   1e-6 absolute against float64 (Polynomials.SineAndCosine)
template <typename F>
HR_HD void sine_cosine_octant(F turns, F& sine, F& cosine) {
  const F square = turns * turns;
  sine = turns * ((square * 79.53141f - 41.32557f) * square + 6.283154f);
  cosine = ((square * -83.665924f + 64.923225f) * square - 19.739168f) * square + 1.0f;
}

}  // namespace headrace::math
