#pragma once
#include <memory>
#include <vector>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// Reads the levels of `slide` that are stored as JPEG or JPEG 2000 tiles straight from these and the
/// others through `slide`: the same pixels without OpenSlide's conversions, and levels with an uneven
/// downsample exactly as stored at any origin. Lossy JPEG 2000 has the values of this build's OpenJPEG,
/// as a store of its tiles has; read_rgba of it goes through `slide`. Returns `slide` itself where
/// level 0 has no such tiles, or they do not decode to the pixels that `slide` reads, so that a missed
/// rule of a format shows here.
///
/// levels  the directories of the slide's levels in `file`, level 0 first. Errors: io.
std::unique_ptr<SlideReader> with_encoded_tiles(std::unique_ptr<SlideReader> slide,
                                                std::shared_ptr<const storage::Object> file,
                                                std::vector<TiffDirectory> levels);

}  // namespace headrace::imaging
