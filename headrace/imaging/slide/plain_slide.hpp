#pragma once
#include <memory>

#include "headrace/imaging/slide/slide_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A PNG or JPEG picture of tissue as a slide of one level, decoded whole at the first read.
///
/// Errors: malformed, corrupt, unsupported, memory, io; each names the file.
bool is_png_slide(const SlideFile& file);
std::unique_ptr<SlideReader> open_png_slide(const SlideFile& file);
bool is_jpeg_slide(const SlideFile& file);
std::unique_ptr<SlideReader> open_jpeg_slide(const SlideFile& file);

}  // namespace headrace::imaging
