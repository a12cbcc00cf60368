#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Reads level 0 of `slide` through libtiff, block by block, and the others through `slide`: the
/// same pixels without OpenSlide's conversions, and uncompressed tiles of any size (OpenSlide 4.0
/// refuses sizes that are not a multiple of 1 KiB). Returns `slide` itself where the file's first
/// picture is not its level 0, or is not upright 8-bit RGB or grey.
std::unique_ptr<SlideReader> with_tiff_level(std::unique_ptr<SlideReader> slide,
                                             const std::string& path);

}  // namespace headrace::imaging
