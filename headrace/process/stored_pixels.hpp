#pragma once
#include <string>

#include "headrace/process/image_source.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::process {

/// Tiles of a TIFF, classic or Big, without compression: those of the directory that has the
/// level's size and the same pixels as the reader.
StoredPixels stored_tiff_pixels(const std::string& path, const ImageSource& source);
/// JPEG tiles of such a TIFF.
JpegBlocks jpeg_tiff_blocks(const std::string& path, const ImageSource& source);
/// Chunks of an array without compression and without shards, in the files of `folder` (empty: not
/// known).
StoredPixels stored_zarr_pixels(const std::string& folder, const zarr::ArrayMetadata& metadata,
                                int channels);

}  // namespace headrace::process
