#pragma once
#include <string_view>

#include "headrace/core/fields.hpp"

namespace headrace::transform {

struct ColourAffine;
struct SlideDraw;

/// Factors uniform in 1 ± value (brightness, contrast, saturation); hue shift uniform in ± value
/// turns.
struct ColorJitterSpec {
  static constexpr std::string_view kName = "color_jitter";
  static constexpr bool kOnce = false, kGeometry = false;

  double brightness = 0, contrast = 0, saturation = 0, hue = 0;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

/// In RGB: v · brightness; then about mid grey (0.5) by `contrast`; then about its own luma by
/// `saturation`; then a turn of the chroma plane of YIQ by `hue` turns. Mid grey, not the patch's
/// mean, so that a pixel's colour does not depend on others. source  luma 0.299, 0.587, 0.114 of
/// ITU-R BT.601; YIQ of FCC 1953
ColourAffine color_jitter(double brightness, double contrast, double saturation, double hue);

}  // namespace headrace::transform
