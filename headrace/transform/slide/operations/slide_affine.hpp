#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct SlideDraw;

/// Turns, enlarges, slants, shifts and mirrors the patch about its centre.
struct AffineSpec {
  static constexpr std::string_view kName = "affine";
  static constexpr bool kOnce = true, kGeometry = true;

  std::array<double, 2> rotate_deg{0, 0}, scale{1, 1}, shear_deg{0, 0};
  double translate = 0;  ///< each axis uniform in ± this fraction of the patch's edge
  bool flip = false;     ///< each axis with probability 1/2

  Fields fields();
  void draw(SlideDraw& draw) const;
};

}  // namespace headrace::transform
