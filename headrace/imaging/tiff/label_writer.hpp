#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "headrace/core/threads.hpp"

namespace headrace::imaging {

/// Writes a label image as a tiled TIFF of 8-bit values, Deflate, one level; only one row of tiles
/// is in memory at a time. `render` fills rows of a tile-aligned region, cut at the image's edge,
/// and is called from several threads. The file appears whole or not at all; the same labels give
/// the same bytes for any number of threads.
void write_label_tiff(
    const std::string& path, std::int64_t height, std::int64_t width, std::int64_t tile, double mpp,
    ThreadPool& pool,
    const std::function<void(std::int64_t y0, std::int64_t x0, std::int64_t height,
                             std::int64_t width, std::uint8_t* dst, std::int64_t row_stride)>&
        render);

}  // namespace headrace::imaging
