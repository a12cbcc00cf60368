#pragma once
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Maps values [low, high] in a unit to 0..1; values beyond are clipped. `window_hu` and
/// `window_suv` are this operation in two units.
template <IntensityUnit kUnit>
struct WindowSpec {
  static constexpr std::string_view kName = kUnit == IntensityUnit::hu ? "window_hu" : "window_suv";
  static constexpr bool kOnce = true;

  double low = usual_window(kUnit)[0], high = usual_window(kUnit)[1];
  std::string channel = {};  ///< the one it is for; empty: every channel in the unit

  ValueUse value_use() const { return {.needs_unit = true, .leaves_unit = true, .only = kUnit}; }
  Fields fields();
  void check(YamlMap& map) const;
  void draw(VolumeDraw& draw) const;
};

using WindowHuSpec = WindowSpec<IntensityUnit::hu>;
using WindowSuvSpec = WindowSpec<IntensityUnit::suv>;

}  // namespace headrace::transform
