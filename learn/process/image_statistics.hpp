#pragma once
#include "headrace/core/threads.hpp"
#include "learn/process/device_image.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"

namespace headrace::process {

/// Gathers what an operation must know about the whole image, block by block, in bounded memory:
/// the darkest channel of every pixel, or the stains of at most 1,024 blocks of 256 pixels evenly
/// spread. The same for any number of threads.
ImageStatistics gather_statistics(const ImageSource& source, NeededStatistics needed,
                                  ThreadPool& pool);
/// The same for an image in an accelerator's memory, by the accelerator. Errors: memory (of the
/// accelerator).
ImageStatistics gather_statistics(const DeviceImage& image, NeededStatistics needed);

}  // namespace headrace::process
