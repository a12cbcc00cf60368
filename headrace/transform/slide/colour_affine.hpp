#pragma once
#include <array>

#include "headrace/math/colour.hpp"

namespace headrace::transform {

/// A row-major 3×4 affine map of (R, G, B, 1) in double: a colour operation before compilation, in
/// optical density (core/image_colour.hpp) or in RGB of full range 1. Each operation makes its own
/// (`operations/`).
struct ColourAffine {
  std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

  std::array<double, 3> operator()(const std::array<double, 3>& v) const;
  /// First `inner`, then this.
  ColourAffine operator*(const ColourAffine& inner) const;
  math::Colour34 rounded() const;
};

/// From a map of OD to the one of log2(v + 1) that math::affine_density takes.
ColourAffine density_to_log2(const ColourAffine& od);
/// A map of RGB for values whose full range is 255, in or out.
ColourAffine from_255(const ColourAffine& a);    ///< in 0..255, out as it was
ColourAffine within_255(const ColourAffine& a);  ///< in and out 0..255

}  // namespace headrace::transform
