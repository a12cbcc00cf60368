#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// sigma, or with variance: true the variance, uniform in the range; in units of the values there.
struct VolumeNoiseSpec {
  static constexpr std::string_view kName = "gaussian_noise";
  static constexpr bool kOnce = false;

  std::array<double, 2> sigma{0, 0};
  double probability = 1;
  bool variance = false;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {.leaves_unit = true}; }
  Fields fields();
  void check(YamlMap& map) const;
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
