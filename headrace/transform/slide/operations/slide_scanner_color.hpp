#pragma once
#include <string_view>

#include "headrace/core/image_colour.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::transform {

struct ColourAffine;
struct SlideDraw;

/// Maps the scanner's mean and spread in optical density to the cohort's.
struct ScannerColorSpec {
  static constexpr std::string_view kName = "scanner_color";
  static constexpr bool kOnce = true, kGeometry = false;

  void read(YamlMap& map);
  Json to_json() const;
  void draw(SlideDraw& draw) const;
};

/// Channel by channel, in optical density. Errors: malformed, where a spread is not positive.
ColourAffine scanner_standardization(const ImageColour& colour);

}  // namespace headrace::transform
