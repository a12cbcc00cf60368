#pragma once
#include <array>
#include <cstdint>

#include "headrace/pixels/image.hpp"
#include "headrace/pixels/tissue/mask.hpp"

namespace headrace::pixels {

class StatisticsWorkspaces;

/// Where an image shows tissue, and the basis of the decision.
struct TissueMask {
  Mask mask;
  double od_threshold =
      0;  ///< pixels whose strongest channel has a higher optical density are candidates
  double pen_fraction = 0;  ///< of all pixels, removed as ink of a felt-tip pen
};

/// Otsu's threshold on the optical density of the darkest channel, limited to 0.05 to 0.15.
struct DarkestThreshold {
  int highest_value = 0;    ///< of the darkest channel where there is tissue
  double od_threshold = 0;  ///< the optical density that tissue exceeds
};
/// darkest: pixels by the value of their darkest channel.
DarkestThreshold tissue_threshold(const std::array<std::uint64_t, 256>& darkest);

/// Finds tissue in a low-resolution RGB image (8 to 16 micrometres a pixel).
///
/// Otsu's threshold on the optical density of the darkest channel, limited to 0.05 to 0.15: a blank
/// slide has no tissue, and a crop that is all tissue is not split into nuclei and stroma. Padding
/// (find_padding: large areas of one colour, such as black outside the scan) is left out first. Ink
/// (green, or blue without red) is removed, but only when it is the smaller part of what is not
/// glass; otherwise it is the stain. Then the mask is opened and closed, small objects are removed,
/// and small holes are filled. A pure function of the pixels.
///
/// workspaces: those of a device that makes the passes over pixels, with the same result (for up to
/// 2^24 pixels); the host finds components. Errors: those of the device.
TissueMask find_tissue(const Image8& rgb, StatisticsWorkspaces* workspaces = nullptr);

}  // namespace headrace::pixels
