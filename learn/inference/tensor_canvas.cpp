#include "learn/inference/tensor_canvas.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/ignore_label.hpp"

namespace headrace::inference {
namespace {

at::Device device_of(int index) {
  return index < 0 ? at::Device(at::kCPU)
                   : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

/// In place; only read.
at::Tensor tensor_at(const void* data, at::IntArrayRef shape, at::ScalarType type,
                     at::Device device) {
  return at::for_blob(const_cast<void*>(data), shape)
      .options(at::TensorOptions(type).device(device))
      .target_device(device)
      .make_tensor();
}

/// The weights of a tile's pixels, multiplied as the host's canvas does.
at::Tensor weights_of(const Canvas::Window& window) {
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(window[0].size()), 1,
                                  static_cast<std::int64_t>(window[1].size()),
                                  static_cast<std::int64_t>(window[2].size())};
  at::Tensor weights = at::empty(shape, at::kFloat);
  float* to = weights.mutable_data_ptr<float>();
  for (const float a : window[0]) {
    for (const float b : window[1]) {
      const float w = a * b;
      for (const float c : window[2]) *to++ = w * c;
    }
  }
  return weights;
}

}  // namespace

TensorCanvas::TensorCanvas(std::int64_t classes, const Window& window_zyx, std::int64_t most_pixels,
                           int device, std::unique_ptr<TensorSink> sink)
    : classes_(classes), device_(device_of(device)), sink_(std::move(sink)) {
  const Window window = turned(window_zyx);
  for (std::size_t axis = 0; axis < 3; ++axis)
    tile_[axis] = static_cast<std::int64_t>(window[axis].size());
  window_ = weights_of(window).to(device_);
  const auto flat = [&](std::int64_t size, at::ScalarType type) {
    return at::empty({size}, at::TensorOptions(type).device(device_));
  };
  const std::int64_t pixels = tile_[0] * most_pixels;
  means_ = flat(pixels * classes_, at::kFloat);
  weights_ = flat(pixels, at::kFloat);
  truth_ = flat(pixels, at::kByte);
}

void TensorCanvas::start(std::uint32_t image, const Axes& size) {
  image_ = image;
  size_ = size;
  pixels_ = size_[1] * size_[2];
  const auto ring = [&](const at::Tensor& flat, std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return flat.narrow(0, 0, count).view(shape);
  };
  mean_ring_ = ring(means_, {tile_[0], classes_, size_[1], size_[2]}).zero_();
  weight_ring_ = ring(weights_, {tile_[0], 1, size_[1], size_[2]}).zero_();
  truth_ring_ = ring(truth_, {tile_[0], size_[1], size_[2]}).fill_(kIgnoreLabel);
}

std::int64_t TensorCanvas::side_by_side(std::int64_t at, std::int64_t count) const {
  return std::min(count, tile_[0] - at % tile_[0]);
}

void TensorCanvas::blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) {
  for (std::int64_t at = low; at < high;) {
    const std::int64_t count = side_by_side(at, high - at);
    for (const PlacedTile& tile : tiles) blend_parts(tile, at, at + count);
    at += count;
  }
  sink_->deliver();
}

/// The part of a tile that lies in parts [low, high), which are side by side in the ring.
void TensorCanvas::blend_parts(const PlacedTile& tile, std::int64_t low, std::int64_t high) {
  // Axes (parts, classes or 1, rows, columns): of the ring and of the tile.
  const auto in_image = [&](const at::Tensor& ring) {
    return ring.narrow(0, low % tile_[0], high - low)
        .narrow(-2, tile.begin[1], tile.end[1] - tile.begin[1])
        .narrow(-1, tile.begin[2], tile.end[2] - tile.begin[2]);
  };
  const auto in_tile = [&](const at::Tensor& values) {
    return values.narrow(0, low - tile.origin[0], high - low)
        .narrow(-2, tile.begin[1] - tile.origin[1], tile.end[1] - tile.begin[1])
        .narrow(-1, tile.begin[2] - tile.origin[2], tile.end[2] - tile.begin[2]);
  };
  const at::Tensor said = in_tile(
      tensor_at(tile.probabilities, {classes_, tile_[0], tile_[1], tile_[2]}, at::kFloat, device_)
          .transpose(0, 1));
  const at::Tensor added = in_tile(window_);
  const at::Tensor weights = in_image(weight_ring_).add_(added);
  at::Tensor means = in_image(mean_ring_);
  // Two operations, and no fused one: the same roundings everywhere.
  means.add_(said.sub(means).mul_(added.div(weights)));
  if (tile.truth == nullptr || sink_->takes_whole()) return;
  in_image(truth_ring_)
      .copy_(in_tile(tensor_at(tile.truth, {tile_[0], tile_[1], tile_[2]}, at::kByte, device_)));
}

void TensorCanvas::release(std::int64_t first, std::span<const Reach> parts) {
  while (!parts.empty()) {
    const std::int64_t count = finish_some(first, parts);
    parts = parts.subspan(static_cast<std::size_t>(count));
    first += count;
  }
  sink_->deliver();
}

std::int64_t TensorCanvas::finish_some(std::int64_t first, std::span<const Reach> parts) {
  const auto count = static_cast<std::int64_t>(parts.size());
  const bool covered = parts.front().covered();
  std::int64_t alike = 1;
  while (alike < count && parts[static_cast<std::size_t>(alike)].covered() == covered) ++alike;
  if (!covered) {
    sink_->take({image_, size_, first, alike, classes_, device_});
    return alike;
  }
  const std::int64_t most =
      std::max<std::int64_t>(1, TensorSink::kAtOnce / std::max<std::int64_t>(1, pixels_));
  const std::int64_t together = side_by_side(first, std::min(alike, most));
  Reach all = parts.front();
  for (const Reach& reach : parts.first(static_cast<std::size_t>(together)))
    all = {std::min(all.begin, reach.begin), std::max(all.end, reach.end)};
  if (sink_->takes_whole()) all = {0, static_cast<std::size_t>(pixels_)};
  finish_parts(first, together, all);
  return together;
}

/// Parts that lie side by side in the ring, of each the pixels in `reach`.
void TensorCanvas::finish_parts(std::int64_t first, std::int64_t count, const Reach& reach) {
  const auto begin = static_cast<std::int64_t>(reach.begin),
             size = static_cast<std::int64_t>(reach.end - reach.begin);
  const auto of = [&](const at::Tensor& ring) {
    return ring.flatten(-2).narrow(0, first % tile_[0], count).narrow(-1, begin, size);
  };
  at::Tensor means = of(mean_ring_), weights = of(weight_ring_).squeeze(1), truth;
  if (!sink_->takes_whole()) truth = of(truth_ring_);
  sink_->take(
      {image_, size_, first, count, classes_, device_, reach.begin, means, weights.gt(0), truth});
  weights.zero_();
  means.zero_();
  if (truth.defined()) truth.fill_(kIgnoreLabel);
}

}  // namespace headrace::inference
