#pragma once
#include <memory>

#include "headrace/imaging/slide/slide_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A slide read by OpenSlide. Alpha is composited on white: transparent pixels read as white,
/// opaque pixels equal those of openslide-python's convert("RGB"), and the few half-covered ones at
/// seams are mixed with white. Where a level's downsample is not a whole number, OpenSlide itself
/// shifts regions of that level by less than half a pixel; level 0 is always exact.
///
/// file: one that OpenSlide knows. Errors: malformed, unsupported; each names the file and
/// OpenSlide's reason.
std::unique_ptr<SlideReader> open_with_openslide(const SlideFile& file);

/// The same of a scanner's format, in which OpenSlide believes what a TIFF claims: tiles that are
/// not in the file are refused, and more than 8 bits, which OpenSlide cuts to the high byte (black
/// where 12 are used). Errors: also corrupt.
std::unique_ptr<SlideReader> open_scanner_slide(const SlideFile& file);

}  // namespace headrace::imaging
