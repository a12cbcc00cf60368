#pragma once
#include <optional>
#include <vector>

#include "headrace/imaging/note.hpp"

namespace headrace::imaging {

/// The size of a pixel in micrometres, where it is known, and what was passed over.
struct PixelSize {
  std::optional<double> mpp_y, mpp_x;
  std::vector<Note> notes;

  bool known() const noexcept { return mpp_y && mpp_x; }
};

/// Whether a scan of tissue can have this pixel size in micrometres, where the file states one as
/// such: 0.02 to 50.
bool credible_mpp(double mpp);

/// A pixel size that a file states as such. Not known where it is not credible; that is noted.
PixelSize stated_pixel_size(double mpp_y, double mpp_x);

/// A pixel size from a density (dots in an inch, a centimetre or a metre), which most programs
/// write for screen and print: taken up to 20 micrometres. 1200 dpi are 21, so the densities of
/// screens and printers (72 to 1200 dpi) are outside; those up to 50 were taken once and are noted.
PixelSize pixel_size_of_density(double mpp_y, double mpp_x);

}  // namespace headrace::imaging
