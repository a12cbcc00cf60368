#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A TIFF, PNG or JPEG picture of tissue as a slide, without OpenSlide: a TIFF by open_tiff_slide;
/// PNG and JPEG have one level and are decoded whole at the first read.
///
/// Errors: malformed, unsupported, memory; each names the file.
std::unique_ptr<SlideReader> open_plain_slide(const std::string& path);

}  // namespace headrace::imaging
