#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"

namespace headrace::imaging {

/// A level of the slide in a TIFF: one page, or three pages of grey as red, green and blue.
/// Errors: as TiffImage::open.
std::unique_ptr<TiffImage> open_tiff_picture(const std::string& path, const TiffPages& pages,
                                             std::size_t level = 0);

/// The picture of a TIFF that choose_tiff_pages takes. Errors: as both.
std::unique_ptr<TiffImage> open_tiff_picture(const std::string& path,
                                             TiffRole role = TiffRole::slide);

}  // namespace headrace::imaging
