#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A slide read by OpenSlide. Alpha is composited on white: transparent pixels read as white,
/// opaque pixels equal those of openslide-python's convert("RGB"), and the few half-covered ones at
/// seams are mixed with white. Where a level's downsample is not a whole number, OpenSlide itself
/// shifts regions of that level by less than half a pixel; level 0 is always exact.
///
/// Errors: malformed, unsupported; each names the file and OpenSlide's reason.
std::unique_ptr<SlideReader> open_with_openslide(const OpenSlideLibrary& library,
                                                 const std::string& path,
                                                 const std::string& vendor);

}  // namespace headrace::imaging
