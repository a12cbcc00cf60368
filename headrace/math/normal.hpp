#pragma once
#include "headrace/math/philox.hpp"
#include "headrace/math/polynomials.hpp"

namespace headrace::math {

/// Two standard normal deviates from two random words in each lane.
///
/// source  Box and Muller, A note on the generation of random normal deviates. Ann. Math. Stat. 29,
/// 1958; the angle is an
///         octant from 24 bits of the second word, its mirror images from three others
/// range   |deviate| <= 5.89 (24 bits of radius); never 0/0: the uniform is (k + 1/2) · 2^-24
/// error   5e-4 absolute against float64 where |deviate| < 0.1, 2e-5 beyond
/// (Normal.MatchesBoxMullerInDouble)
template <typename F>
HR_HD void normal_pair(UintOf<F> radius_word, UintOf<F> angle_word, F& first, F& second) {
  const F u =
      to_float(as_signed(radius_word >> 8)) * 5.9604644775390625e-8f + 2.9802322387695312e-8f;
  // The logarithm of u < 1 may round to a positive number next to 0; its root would be NaN.
  const F minus_two_ln = clamp_to(log2_of(u) * -1.3862944f, 0.0f, 64.0f);
  const F radius = sqrt_of(minus_two_ln);
  F sine, cosine;
  sine_cosine_octant(to_float(as_signed(angle_word >> 8)) * 7.450580596923828e-9f, sine, cosine);
  const auto word = as_signed(angle_word);
  const auto swap = (word & 1) != 0;
  const F x = select(swap, sine, cosine) * radius;
  const F y = select(swap, cosine, sine) * radius;
  first = float_of(bits_of(x) ^ ((word & 2) << 30));
  second = float_of(bits_of(y) ^ ((word & 4) << 29));
}

/// Four standard normal deviates of one Philox block.
template <typename F>
struct Normal4 {
  F v[4];
};
template <typename F>
HR_HD Normal4<F> normals_of(const Philox4Of<UintOf<F>>& block) {
  Normal4<F> out;
  normal_pair<F>(block.v[0], block.v[1], out.v[0], out.v[1]);
  normal_pair<F>(block.v[2], block.v[3], out.v[2], out.v[3]);
  return out;
}

}  // namespace headrace::math
