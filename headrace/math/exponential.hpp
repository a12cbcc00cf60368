#pragma once
#include "headrace/math/hd.hpp"

namespace headrace::math {

/// e^x in double: for weights that the host composes. Own series (e^x = (e^(x/1024))^1024), since
/// the last bit of libm's depends on the CPU.
///
/// range   -40 .. 0
/// error   1e-12 relative against long double (Exponential.MatchesLibm)
HR_HD double exp_of(double x) {
  const double y = x * (1.0 / 1024.0);
  double sum = 1.0;
  for (int n = 12; n >= 1; --n) sum = 1.0 + y * sum / n;
  for (int i = 0; i < 10; ++i) sum = sum * sum;
  return sum;
}

}  // namespace headrace::math
