#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"

namespace headrace::imaging {

/// Adds the levels that a TIFF stores of the picture that is the slide, where `slide` has only it:
/// levels in SubIFDs (OME-TIFF), which OpenSlide ignores, or reduced pictures of a codec that
/// OpenSlide does not know. Returns `slide` itself where there are none.
std::unique_ptr<SlideReader> with_tiff_pyramid(std::unique_ptr<SlideReader> slide,
                                               const std::string& path, const TiffPages& pages);

}  // namespace headrace::imaging
