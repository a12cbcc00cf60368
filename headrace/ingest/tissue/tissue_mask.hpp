#pragma once
#include <array>
#include <cstdint>

#include "headrace/imaging/image.hpp"
#include "headrace/ingest/tissue/mask.hpp"

namespace headrace::ingest {

class StatisticsLanes;

/// Where an image shows tissue, and how that was decided.
struct TissueMask {
  Mask mask;
  double od_threshold =
      0;  ///< pixels whose strongest channel has a higher optical density are candidates
  double pen_fraction = 0;  ///< of all pixels, taken out as ink of a felt-tip pen
};

/// Otsu's threshold on the optical density of the darkest channel, held between 0.05 and 0.15.
struct DarkestThreshold {
  int highest_value = 0;    ///< of the darkest channel where there is tissue
  double od_threshold = 0;  ///< the optical density that tissue exceeds
};
/// darkest: pixels by the value of their darkest channel.
DarkestThreshold tissue_threshold(const std::array<std::uint64_t, 256>& darkest);

/// Finds tissue in a low-resolution RGB image (8 to 16 micrometres a pixel).
///
/// Otsu's threshold on the optical density of the darkest channel, held between 0.05 and 0.15: a
/// blank slide has no tissue, and a crop that is all tissue is not split into nuclei and stroma.
/// Ink (green, or blue without red; only when it is the lesser part of what is not glass, else it
/// is the stain) is taken out; opened, closed, small objects removed, small holes filled. A pure
/// function of the pixels.
///
/// lanes: of a device that makes the passes over pixels, with the same result (up to 2^24 of them);
/// components are the host's. Errors: those of the device.
TissueMask find_tissue(const imaging::Image8& rgb, StatisticsLanes* lanes = nullptr);

}  // namespace headrace::ingest
