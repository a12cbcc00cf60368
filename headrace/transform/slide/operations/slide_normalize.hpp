#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct SlideDraw;

/// (value - mean) / std with values in 0..1, one mean and std for each RGB channel.
struct NormalizeSpec {
  static constexpr std::string_view kName = "normalize";
  static constexpr bool kOnce = true, kGeometry = false;

  std::array<double, 3> mean{0, 0, 0}, std{1, 1, 1};

  Fields fields();
  void draw(SlideDraw& draw) const;
};

}  // namespace headrace::transform
