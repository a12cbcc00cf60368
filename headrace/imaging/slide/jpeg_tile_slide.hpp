#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Reads the levels of `slide` that JpegTiles has straight from their tiles and the others through
/// `slide`: the same pixels without OpenSlide's conversions, and levels with an uneven downsample
/// exactly as stored at any origin. Returns `slide` itself where the file has no such tiles.
std::unique_ptr<SlideReader> with_jpeg_tiles(std::unique_ptr<SlideReader> slide,
                                             const std::string& path);

}  // namespace headrace::imaging
