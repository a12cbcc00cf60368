#pragma once
#include "headrace/math/bilinear.hpp"
#include "headrace/math/polynomials.hpp"

namespace headrace::math {

/// A row-major 3×4 affine map of (R, G, B, 1).
struct Colour34 {
  float m[12];
};

template <typename F>
HR_HD Rgb<F> affine_rgb(const Colour34& a, const Rgb<F>& v) {
  return {(v.r * a.m[0] + v.g * a.m[1]) + (v.b * a.m[2] + a.m[3]),
          (v.r * a.m[4] + v.g * a.m[5]) + (v.b * a.m[6] + a.m[7]),
          (v.r * a.m[8] + v.g * a.m[9]) + (v.b * a.m[10] + a.m[11])};
}

/// An affine map in optical density, of values 0..255: 2^(A · log2(v + 1)) - 1.
///
/// `a` acts on log2(v + 1) = 8 - OD / log10(2) (transform/slide/colour_affine.hpp makes it from one
/// that acts on OD).
/// range   v is limited to [0, 255] first; out [-1, 2^126]
/// error   2e-3 absolute against float64 where both are in [0, 255] (Colour.DensityMatchesDouble)
/// NaN     never
template <typename F>
HR_HD Rgb<F> affine_density(const Colour34& a, const Rgb<F>& v) {
  const Rgb<F> log{log2_of(clamp_to(v.r, 0.0f, 255.0f) + 1.0f),
                   log2_of(clamp_to(v.g, 0.0f, 255.0f) + 1.0f),
                   log2_of(clamp_to(v.b, 0.0f, 255.0f) + 1.0f)};
  const Rgb<F> out = affine_rgb(a, log);
  return {exp2_of(out.r) - 1.0f, exp2_of(out.g) - 1.0f, exp2_of(out.b) - 1.0f};
}

}  // namespace headrace::math
