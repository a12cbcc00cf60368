#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/openslide_library.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// A TIFF that no scanner's format is told from, by the pages that choose_tiff_pages takes; pixel
/// size, profile and notes are of them, whoever reads the pixels.
/// openslide: the library where it knows the file as generic-tiff, else null. It reads the pixels of
/// a slide in the first page (level 0 of plain samples is libtiff's); all others are libtiff's.
///
/// Errors: malformed, corrupt, unsupported, memory; each names the file.
std::unique_ptr<SlideReader> open_tiff_slide(const std::string& path,
                                             const OpenSlideLibrary* openslide);

}  // namespace headrace::imaging
