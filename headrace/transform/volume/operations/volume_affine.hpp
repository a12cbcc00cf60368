#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Turns, enlarges, slants, shifts and mirrors the patch about its centre, in millimetres.
struct VolumeAffineSpec {
  static constexpr std::string_view kName = "affine";
  static constexpr bool kOnce = true;

  std::array<double, 2> rotate_deg{0, 0};  ///< about each of the axes z, y and x
  bool in_plane = false;                   ///< rotation about z alone
  std::array<double, 2> scale{1, 1}, shear_deg{0, 0};
  double translate = 0;  ///< each axis uniform in ± this fraction of the patch's edge
  bool flip = false;     ///< each axis with probability 1/2
  double rotate_probability = 1, scale_probability = 1;

  ValueUse value_use() const { return {}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
