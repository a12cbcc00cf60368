#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "headrace/core/threads.hpp"

namespace headrace::imaging {

struct PyramidOptions {
  std::int64_t height = 0, width = 0;
  std::int64_t tile = 256;
  int jpeg_quality = 85;
  double mpp = 0.5;
};

/// Writes a pyramidal tiled JPEG TIFF (BigTIFF where needed), with 2× area-averaged levels until
/// one tile holds the image. `render` fills RGB rows of a tile-aligned region of level 0 and is
/// called from several threads: render(y0, x0, height, width, dst, row_stride_bytes). Memory does
/// not grow with the image's height. The file appears whole or not at all; the same pixels give the
/// same bytes for any number of threads.
void write_pyramid_tiff(
    const std::string& path, const PyramidOptions& options, ThreadPool& pool,
    const std::function<void(std::int64_t y0, std::int64_t x0, std::int64_t height,
                             std::int64_t width, std::uint8_t* dst, std::int64_t row_stride_bytes)>&
        render);

}  // namespace headrace::imaging
