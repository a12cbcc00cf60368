#pragma once
#include <cstdint>

#include "headrace/core/geometry.hpp"
#include "learn/process/operation.hpp"
#include "learn/process/tile_kernel.hpp"

namespace headrace::process {

/// Memory of results: element (channel 0, row, column) of `origin` lies at `data`.
struct ResultView {
  std::uint8_t* data;
  std::int64_t origin_y, origin_x;
  std::int64_t channel_bytes, row_bytes, pixel_bytes;
};

/// Runs the operation on the pixels of `box`, in tiles of at most tile_height × tile_width, on the
/// calling thread. `source` must hold the box's pixels and those of its halo that are in the image.
void run_tiles(const Operation& operation, const SourceView& source, const Box2& box,
               std::int64_t tile_height, std::int64_t tile_width, const ResultView& result);

}  // namespace headrace::process
