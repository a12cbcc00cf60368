#pragma once
#include <array>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// value^gamma on the patch's range; invert: of the negated image; retain_stats: mean and std of
/// the patch are put back (nnU-Net). bg: as for brightness.
struct VolumeGammaSpec {
  static constexpr std::string_view kName = "gamma";
  static constexpr bool kOnce = false;

  std::array<double, 2> gamma{1, 1};
  double probability = 1;
  bool invert = false, retain_stats = false, bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {.leaves_unit = true}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
