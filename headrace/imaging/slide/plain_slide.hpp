#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A TIFF, PNG or JPEG picture of tissue as a slide of one level. The first picture of a TIFF is
/// taken (with_tiff_pyramid finds further levels) and read block by block; PNG and JPEG are decoded
/// whole at the first read.
///
/// Errors: malformed, unsupported, memory; each names the file.
std::unique_ptr<SlideReader> open_plain_slide(const std::string& path);

}  // namespace headrace::imaging
