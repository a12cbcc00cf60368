#pragma once
#include <memory>

#include "learn/process/image_sink.hpp"

namespace headrace::process {

/// An OME-Zarr 0.5 image of one level, "0": one object for each chunk of (channels, edge, edge).
///
/// While it is being written, its zarr.json has attributes.headrace.complete = false and no
/// multiscales, and the array has no zarr.json.
std::unique_ptr<ImageSink> open_zarr_sink(const SinkOptions& options, const SinkImage& image);

}  // namespace headrace::process
