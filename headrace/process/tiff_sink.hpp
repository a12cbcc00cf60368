#pragma once
#include <memory>

#include "headrace/process/image_sink.hpp"

namespace headrace::process {

/// A tiled BigTIFF of one picture without compression, samples interleaved. Where each tile lies
/// follows from its place, so tiles come in any order; the file appears whole or not at all.
std::unique_ptr<ImageSink> open_tiff_sink(const SinkOptions& options, const SinkImage& image);

}  // namespace headrace::process
