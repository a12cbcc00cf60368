#pragma once
#include <memory>

#include "headrace/imaging/slide/slide_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::imaging {

/// Whether OpenSlide takes a file for Aperio's, or without it the same is seen: a TIFF with tiles
/// whose description begins with "Aperio". Errors: io.
bool is_aperio_slide(const SlideFile& file);

/// An Aperio slide (SVS): through OpenSlide where it knows the file, else by the TIFF alone: its
/// levels are the pictures in tiles, in file order. The same sizes, facts and pixels; but a smaller
/// level with missing tiles, which OpenSlide draws from the level above it, is then left out and
/// noted.
/// Errors: as SlideReader::open.
std::unique_ptr<SlideReader> open_aperio_slide(const SlideFile& file);

}  // namespace headrace::imaging
