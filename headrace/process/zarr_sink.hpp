#pragma once
#include <memory>

#include "headrace/process/image_sink.hpp"

namespace headrace::process {

/// An OME-Zarr 0.5 image of one level, "0": one object a chunk of (channels, edge, edge).
///
/// While it is written its zarr.json says attributes.headrace.complete = false and holds no
/// multiscales, and the array has no zarr.json at all.
std::unique_ptr<ImageSink> open_zarr_sink(const SinkOptions& options, const SinkImage& image);

}  // namespace headrace::process
