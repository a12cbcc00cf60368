#pragma once
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct SlideDraw;

/// Displacement by a uniform cubic B-spline over grid × grid control cells; control values uniform
/// in ± magnitude_um.
struct ElasticSpec {
  static constexpr std::string_view kName = "elastic";
  static constexpr bool kOnce = true, kGeometry = true;

  int grid = 8;
  double magnitude_um = 10, probability = 1;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

}  // namespace headrace::transform
