#pragma once
#include <memory>

#include "headrace/imaging/slide/slide_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Whether a file is a TIFF that no scanner's format is told from. Errors: none.
bool is_tiff_slide(const SlideFile& file);

/// Such a TIFF, by the pages that choose_tiff_pages takes; pixel size, profile and notes are of them,
/// whoever reads the pixels. OpenSlide reads those of a slide in the first page where it knows the
/// file (level 0 of plain samples is libtiff's); all others are libtiff's.
///
/// Errors: malformed, corrupt, unsupported, memory, io; each names the file.
std::unique_ptr<SlideReader> open_tiff_slide(const SlideFile& file);

}  // namespace headrace::imaging
