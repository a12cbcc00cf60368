#pragma once
#include <array>
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct ColourAffine;
struct SlideDraw;

/// Each Ruifrok stain concentration c becomes c·(1+a)+b, a and b uniform in ± sigma.
/// source  Tellez et al., Med. Image Anal. 58, 2019
struct HedJitterSpec {
  static constexpr std::string_view kName = "hed_jitter";
  static constexpr bool kOnce = false, kGeometry = false;

  double sigma = 0.05;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

/// In optical density: concentrations c of Ruifrok's H, E and DAB → c·(1 + factor) + shift.
ColourAffine hed_jitter(const std::array<double, 3>& factor, const std::array<double, 3>& shift);

}  // namespace headrace::transform
