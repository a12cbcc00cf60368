#pragma once
#include <array>

#include "headrace/core/image_colour.hpp"
#include "headrace/math/colour.hpp"

namespace headrace::transform {

/// A row-major 3×4 affine map of (R, G, B, 1) in double: a colour operation before compilation.
struct ColourAffine {
  std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

  std::array<double, 3> operator()(const std::array<double, 3>& v) const;
  /// First `inner`, then this.
  ColourAffine operator*(const ColourAffine& inner) const;
  math::Colour34 rounded() const;
};

// ---- in optical density (core/image_colour.hpp) ----------------------------------------------

/// Macenko normalisation: concentrations of the slide's stains, scaled to the reference's maxima,
/// in the reference's stains. Errors: malformed, where the two stain vectors of `slide` coincide,
/// or a maximum is not positive.
ColourAffine stain_normalization(const ImageColour& slide, const ImageColour& reference);
/// The reference of the published implementations (HE = [[.5626, .2159], [.7201, .8012], [.4062,
/// .5581]], maxima 1.9705 and 1.0308 in natural logarithm of 240), converted to this OD: divided by
/// ln 10, and the OD of 240, log10(256 / 240) in each channel, added as concentrations.
ImageColour builtin_reference();
/// Maps the scanner's mean and spread to the cohort's, channel by channel. Errors: malformed, where
/// a spread is not positive.
ColourAffine scanner_standardization(const ImageColour& colour);
/// Concentrations c of Ruifrok's H, E and DAB (rows [.65 .70 .29], [.07 .99 .11], [.27 .57 .78]) →
/// c·(1 + factor) + shift. source  Ruifrok and Johnston, Anal. Quant. Cytol. Histol. 23, 2001;
/// Tellez et al., Med. Image Anal. 58, 2019
ColourAffine hed_jitter(const std::array<double, 3>& factor, const std::array<double, 3>& shift);
/// Amounts of haematoxylin and eosin from OD, (2, 3) row-major: the pseudo-inverse of two stain
/// vectors, and for Ruifrok's the first rows of the inverse of H, E and DAB together. Errors:
/// malformed, where the two vectors coincide.
std::array<double, 6> stain_unmixing(const std::array<double, 6>& stain_od_rgb_he);
std::array<double, 6> ruifrok_unmixing();
/// From a map of OD to the one of log2(v + 1) that math::affine_density takes.
ColourAffine density_to_log2(const ColourAffine& od);

// ---- in RGB, full range 1 --------------------------------------------------------------------

/// v · brightness; then about mid grey (0.5) by `contrast`; then about its own luma by
/// `saturation`; then a turn of the chroma plane of YIQ by `hue` turns. Mid grey, not the patch's
/// mean, so that a pixel's colour does not depend on others. source  luma 0.299, 0.587, 0.114 of
/// ITU-R BT.601; YIQ of FCC 1953
ColourAffine color_jitter(double brightness, double contrast, double saturation, double hue);
/// (v - mean) / std.
ColourAffine normalization(const std::array<double, 3>& mean, const std::array<double, 3>& std);
/// The same map for values whose full range is 255, in or out.
ColourAffine from_255(const ColourAffine& a);    ///< in 0..255, out as it was
ColourAffine within_255(const ColourAffine& a);  ///< in and out 0..255

}  // namespace headrace::transform
