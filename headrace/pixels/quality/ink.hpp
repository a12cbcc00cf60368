#pragma once
#include "headrace/pixels/image.hpp"

namespace headrace::pixels {

/// Shares of the image, coloured and black ink together, from which pen marks are remarked: twice
/// what the rule finds on samples without a mark (at most 0.24 %).
inline constexpr double kPenShare = 0.005;
/// Share of the image from which black may be the background of another kind of picture.
inline constexpr double kBlackShare = 1.0 / 3;

/// What of an image is ink of a pen, as shares of all its pixels.
struct InkShares {
  double coloured = 0;  ///< blue and green ink
  double black = 0;     ///< black ink, or any other black
  /// Whether the ink is less than a third of what is not glass; otherwise it is the stain, as in
  /// find_tissue.
  bool marks = false;
  /// Pixels with no channel below 80: glass, and most of what is stained.
  double light = 0;
};

/// Ink in a low-resolution image (8 to 16 micrometres a pixel), (y, x, 3).
///
/// Coloured ink: is_ink, the rule by which the tissue mask leaves pens out (green beyond
/// what any stain gives, or blue with less red than green). Black ink: no channel from 80 up, and
/// less than 25 between the highest and the lowest; stained tissue, its folds too, has a hue at
/// this size. Both opened by 3×3, so that single pixels don't count. Red ink has the hue of eosin
/// and is not found.
InkShares ink_shares(const Image8& rgb);

/// Whether an image has the black background of fluorescence and other kinds of picture: from
/// kBlackShare of it is black and no mark, and less than half of the rest is light. A bright-field
/// scan with black around it has a light rest.
bool is_dark_field(const InkShares& shares);

}  // namespace headrace::pixels
