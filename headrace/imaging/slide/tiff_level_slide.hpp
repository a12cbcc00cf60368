#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Reads level 0 of `slide` through `level0` (libtiff, block by block), and the others through
/// `slide`: the same pixels without OpenSlide's conversions, and uncompressed tiles of any size
/// (OpenSlide 4.0 refuses sizes that are not a multiple of 1 KiB). Returns `slide` itself where the
/// two have other sizes.
std::unique_ptr<SlideReader> with_tiff_level(std::unique_ptr<SlideReader> slide,
                                             std::unique_ptr<SlideReader> level0);

}  // namespace headrace::imaging
