#pragma once
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Clips to percentiles 0.5 and 99.5 of the patient's body, or of the training set's foreground.
struct ClipPercentilesSpec {
  static constexpr std::string_view kName = "clip_percentiles";
  static constexpr bool kOnce = true;

  StatsSource of = StatsSource::patient;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {.needs_unit = true, .statistics = of}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
