#pragma once
#include <string>

#include "headrace/process/image_source.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::process {

/// Tiles of a TIFF, classic or Big, without compression: of the directory that has the level's size
/// and whose pixels are those that the reader gives.
StoredPixels stored_tiff_pixels(const std::string& path, const ImageSource& source);
/// JPEG tiles of the same.
JpegBlocks jpeg_tiff_blocks(const std::string& path, const ImageSource& source);
/// Chunks of an array without compression and without shards, in the files of `folder` (empty: it
/// is not known).
StoredPixels stored_zarr_pixels(const std::string& folder, const zarr::ArrayMetadata& metadata,
                                int channels);

}  // namespace headrace::process
