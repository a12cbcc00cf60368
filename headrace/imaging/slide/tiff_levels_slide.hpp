#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"

namespace headrace::imaging {

/// A slide whose levels are pictures of a TIFF, read by libtiff; level 0 first, at least one. Its
/// profile is level 0's. Errors: unsupported (level 0 is no RGB that can be read).
std::unique_ptr<SlideReader> open_tiff_levels(const std::string& name,
                                              std::vector<std::unique_ptr<TiffImage>> levels);

/// Adds levels to a slide that has level 0 alone. Returns `slide` itself where there are none.
std::unique_ptr<SlideReader> with_tiff_levels(std::unique_ptr<SlideReader> slide,
                                              const std::string& name,
                                              std::vector<std::unique_ptr<TiffImage>> more);

}  // namespace headrace::imaging
