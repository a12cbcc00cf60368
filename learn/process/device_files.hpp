#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/threads.hpp"
#include "learn/process/accelerator.hpp"
#include "learn/process/image_sink.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"

namespace headrace::process {

/// Reads the blocks of an image into their places in `pixels` in the accelerator's memory, (y, x,
/// c), rows without gaps. Neighbours in a file are read at once. Other blocks are read by the
/// source and copied. Returns how files were read.
std::string load_stored(const ImageSource& source, const StoredPixels& stored, ThreadPool& pool,
                        Accelerator& accelerator, std::uint8_t* pixels);

/// The same for JPEGs that the accelerator decodes, many at once. Those that it does not take are
/// read by the source, and errors are the source's. Returns "nvJPEG", with how many were read by the
/// CPU and why where some were.
std::string load_jpegs(const ImageSource& source, const JpegBlocks& blocks, ThreadPool& pool,
                       Accelerator& accelerator, std::uint8_t* pixels);

/// Stores a result that lies in the accelerator's memory, channels one after the other, chunk by
/// chunk from there. Requires the sink's takes_files(). Returns how files were written.
std::string store_chunks(const ImageInfo& info, const Operation& operation,
                         const std::uint8_t* result, ImageSink& sink, std::int64_t chunk,
                         ThreadPool& pool, Accelerator& accelerator);

}  // namespace headrace::process
