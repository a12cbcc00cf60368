#pragma once
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Displacement by a uniform cubic B-spline over grid³ control cells; control values uniform in ±
/// magnitude_mm.
struct VolumeElasticSpec {
  static constexpr std::string_view kName = "elastic";
  static constexpr bool kOnce = true;

  int grid = 6;
  double magnitude_mm = 5, probability = 1;

  ValueUse value_use() const { return {}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
