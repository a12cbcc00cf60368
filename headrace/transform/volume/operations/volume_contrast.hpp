#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// About the patch's mean; preserve_range clips to the range before it (nnU-Net). bg: as for
/// brightness.
struct VolumeContrastSpec {
  static constexpr std::string_view kName = "contrast";
  static constexpr bool kOnce = false;

  std::array<double, 2> factor{1, 1};
  double probability = 1;
  bool preserve_range = true, bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {.leaves_unit = true}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
