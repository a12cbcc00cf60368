#pragma once
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/core/image_colour.hpp"

namespace headrace::transform {

struct ColourAffine;
struct SlideDraw;

enum class StainMethod { macenko };

}  // namespace headrace::transform

namespace headrace {
template <>
inline constexpr auto kNamesOf<transform::StainMethod> =
    names<transform::StainMethod>({{transform::StainMethod::macenko, "macenko"}});
}  // namespace headrace

namespace headrace::transform {

/// The name of builtin_reference() in configs.
inline constexpr std::string_view kBuiltinReference = "builtin";

/// Maps the slide's own stain matrix and maxima (estimated at ingest) to the reference's.
struct StainNormalizeSpec {
  static constexpr std::string_view kName = "stain_normalize";
  static constexpr bool kOnce = true, kGeometry = false;

  StainMethod method = StainMethod::macenko;
  std::string reference{kBuiltinReference};  ///< or an image id of the store

  Fields fields();
  void draw(SlideDraw& draw) const;
};

/// Macenko normalisation, in optical density: concentrations of the slide's stains, scaled to the
/// reference's maxima, in the reference's stains. Errors: malformed, where the two stain vectors of
/// `slide` coincide, or a maximum is not positive.
ColourAffine stain_normalization(const ImageColour& slide, const ImageColour& reference);
/// The reference of the published implementations (HE = [[.5626, .2159], [.7201, .8012], [.4062,
/// .5581]], maxima 1.9705 and 1.0308 in natural logarithm of 240), converted to this OD: divided by
/// ln 10, and the OD of 240, log10(256 / 240) in each channel, added as concentrations.
ImageColour builtin_reference();

}  // namespace headrace::transform
