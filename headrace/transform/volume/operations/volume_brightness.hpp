#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Times a factor. A range is drawn uniformly, or, with bg: true, as batchgenerators' BGContrast
/// does (half of the draws below 1).
struct VolumeBrightnessSpec {
  static constexpr std::string_view kName = "brightness";
  static constexpr bool kOnce = false;

  std::array<double, 2> factor{1, 1};
  double probability = 1;
  bool bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {.leaves_unit = true}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
