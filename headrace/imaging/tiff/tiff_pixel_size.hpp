#pragma once
#include <vector>

#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/tiff/ome_images.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// The OME-XML of a file, which its first directory holds; at most 16 MiB of it are read.
std::vector<OmeImage> read_ome_images(const storage::Object& file, const TiffDirectory& first);

/// The pixel size of a directory's picture: that of the OME image with as many pixels (of the only
/// image, to a hundredth and in either order), else that of its resolution tags. What OME-XML states
/// of a picture of another size is not taken, nor are tags that repeat it, and a note says so.
PixelSize tiff_pixel_size(const TiffDirectory& d, const std::vector<OmeImage>& ome);

}  // namespace headrace::imaging
