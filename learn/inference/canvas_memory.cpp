#include "learn/inference/canvas_memory.hpp"

#include <algorithm>

#include "learn/inference/tensor_sink.hpp"
#include "learn/inference/volume/tensor_grid.hpp"

namespace headrace::inference {
namespace {

/// Tensors of a pixel that finishing, its scores and counts hold at once; not measured.
constexpr std::int64_t kFinishingBytes = 128;

/// Of a tile, for the widest image.
double ring_pixels(const CanvasExtent& extent) {
  const auto parts = static_cast<double>(turned(extent.window_zyx)[0].size());
  return parts * static_cast<double>(extent.most_pixels);
}

double runs_of(const CanvasExtent& extent) { return static_cast<double>(extent.runs); }

}  // namespace

double held_bytes(const CanvasExtent& extent) {
  return runs_of(extent) * ring_pixels(extent) *
         (4.0 * static_cast<double>(extent.classes + 1) + 1);
}

double working_bytes(const CanvasExtent& extent) {
  std::int64_t tile = 1;
  for (const auto& axis : extent.window_zyx) tile *= static_cast<std::int64_t>(axis.size());
  const std::int64_t finished = std::max({TensorSink::kAtOnce, extent.most_pixels, extent.widest});
  double bytes = static_cast<double>(finished * (kFinishingBytes + 4 * extent.classes) +
                                     tile * 4 * (2 * extent.classes + 2));
  if (extent.widest > 0)
    bytes += tensor_grid_bytes(extent.classes, extent.widest, TensorSink::kAtOnce);
  if (extent.runs > 1) {
    const double waiting = ring_pixels(extent) + static_cast<double>(extent.batch * tile);
    bytes += runs_of(extent) * waiting * (4.0 * static_cast<double>(extent.classes) + 1);
  }
  return bytes;
}

}  // namespace headrace::inference
