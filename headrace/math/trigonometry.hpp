#pragma once
#include "headrace/math/hd.hpp"

namespace headrace::math {

/// Sine and cosine of an angle in turns, in double: for composing matrices on the host. Own series
/// and not libm's, whose last bit depends on the CPU (it has variants with and without fused
/// multiply-add). Exact at quarter turns.
///
/// source  Taylor series about the nearest quarter turn, to the 17th power
/// range   |turns| <= 1e6
/// error   4e-16 absolute against long double (Trigonometry.MatchesLibm)
HR_HD void sine_cosine(double turns, double& sine, double& cosine) {
  const double shifted = turns * 4.0 + 6755399441055744.0;  // 1.5 · 2^52: rounds to a whole number
  const double quarter = shifted - 6755399441055744.0;
  const double x = (turns - quarter * 0.25) * 6.283185307179586477;
  const double z = x * x;
  double s = 0.0, c = 0.0;
  for (int n = 17; n >= 3; n -= 2) s = (s + 1.0) * (-z / ((n - 1) * n));
  for (int n = 16; n >= 2; n -= 2) c = (c + 1.0) * (-z / ((n - 1) * n));
  s = x + x * s;
  c = 1.0 + c;
  switch (static_cast<long long>(quarter) & 3) {
    case 0:
      sine = s;
      cosine = c;
      break;
    case 1:
      sine = c;
      cosine = -s;
      break;
    case 2:
      sine = -s;
      cosine = -c;
      break;
    default:
      sine = -c;
      cosine = s;
      break;
  }
}

}  // namespace headrace::math
