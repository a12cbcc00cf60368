#pragma once
#include <memory>

#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/imaging/tiff/tiff_pages.hpp"

namespace headrace::imaging {

/// A level of the slide in a TIFF: one page, or three pages of grey as red, green and blue.
/// Errors: as TiffImage::open.
std::unique_ptr<TiffImage> open_tiff_picture(const std::shared_ptr<const storage::Object>& file,
                                             const TiffPages& pages, std::size_t level = 0);

/// The picture of a TIFF that choose_tiff_pages takes. Errors: as both.
std::unique_ptr<TiffImage> open_tiff_picture(const std::shared_ptr<const storage::Object>& file,
                                             TiffRole role = TiffRole::slide);

}  // namespace headrace::imaging
