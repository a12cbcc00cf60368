#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/slide/slide_reader.hpp"

#include "headrace/zarr/metadata.hpp"
#include "learn/process/image_source.hpp"

namespace headrace::process {

/// Tiles of a TIFF, classic or Big, without compression: those of the directory that has the
/// level's size and the same pixels as the reader.
StoredPixels stored_tiff_pixels(const std::string& path, const ImageSource& source);
/// The JPEG tiles that a slide's file stores, in `path`.
JpegBlocks jpeg_slide_blocks(std::shared_ptr<const imaging::SlideReader> slide,
                             const std::string& path, const ImageSource& source);
/// Chunks of an array without compression and without shards, in the files of `folder` (empty: not
/// known).
StoredPixels stored_zarr_pixels(const std::string& folder, const zarr::ArrayMetadata& metadata,
                                int channels);

}  // namespace headrace::process
