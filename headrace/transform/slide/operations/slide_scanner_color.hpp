#pragma once
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/core/image_colour.hpp"

namespace headrace::transform {

struct ColourAffine;
struct SlideDraw;

/// Maps the scanner's mean and spread in optical density to the cohort's.
struct ScannerColorSpec {
  static constexpr std::string_view kName = "scanner_color";
  static constexpr bool kOnce = true, kGeometry = false;

  Fields fields();
  void draw(SlideDraw& draw) const;
};

/// Channel by channel, in optical density. Errors: malformed, where a spread is not positive.
ColourAffine scanner_standardization(const ImageColour& colour);

}  // namespace headrace::transform
