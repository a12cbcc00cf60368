#pragma once
#include <cstddef>
#include <cstdint>

#include "learn/inference/tile_canvas.hpp"

namespace headrace::inference {

/// What decides how much memory tiles that are blended on a device take there.
struct CanvasExtent {
  std::int64_t classes = 0;
  Canvas::Window window_zyx;
  std::int64_t most_pixels = 1;  ///< of a part of any image
  /// widest_slice of any image of volumes that are taken to level 0; 0: nothing is.
  std::int64_t widest = 0;
  std::size_t runs = 1;    ///< whose mean is made, each with a canvas
  std::int64_t batch = 0;  ///< of several runs: tiles of the largest batch
};

/// Bytes that the canvases hold for the whole of their life: of each, parts of a tile × most_pixels
/// × (classes + 1) floats and a byte.
double held_bytes(const CanvasExtent& extent);

/// What work takes for a while: blending a tile, finishing TensorSink::kAtOnce pixels (an estimate,
/// not measured), TensorGrid; of several runs, also the parts of each that a batch finishes (those
/// of a tile on the widest image, and as many pixels as the batch has), until all have them.
double working_bytes(const CanvasExtent& extent);

}  // namespace headrace::inference
