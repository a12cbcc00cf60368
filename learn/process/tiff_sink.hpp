#pragma once
#include <memory>

#include "learn/process/image_sink.hpp"

namespace headrace::process {

/// A tiled BigTIFF of one picture without compression, samples interleaved. The file offset of each
/// tile follows from its place, so tiles may come in any order; the file appears whole or not at
/// all.
std::unique_ptr<ImageSink> open_tiff_sink(const SinkOptions& options, const SinkImage& image);

}  // namespace headrace::process
