#include "headrace/inference/tensor_canvas.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/ignore_label.hpp"
#include "headrace/inference/tensor_math.hpp"

namespace headrace::inference {
namespace {

/// Tensors of a pixel that finishing, its scores and counts hold at once; not measured.
constexpr std::int64_t kFinishingBytes = 128;

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

/// widest: 0: nothing is taken to level 0.
double working_bytes(std::int64_t classes, const Canvas::Window& window, std::int64_t most_pixels,
                     std::int64_t widest) {
  std::int64_t tile = 1;
  for (const auto& axis : window) tile *= static_cast<std::int64_t>(axis.size());
  const std::int64_t finished = std::max({TensorCanvas::kAtOnce, most_pixels, widest});
  const double grid = widest > 0 ? tensor_grid_bytes(classes, widest, TensorCanvas::kAtOnce) : 0.0;
  return grid + static_cast<double>(finished * (kFinishingBytes + 4 * classes) +
                                    tile * 4 * (2 * classes + 2));
}

}  // namespace

double tensor_canvas_bytes(std::int64_t classes, const Canvas::Window& window_zyx,
                           std::int64_t most_pixels, std::int64_t widest) {
  const auto parts = static_cast<double>(turned(window_zyx)[0].size());
  return parts * static_cast<double>(most_pixels) * (4.0 * static_cast<double>(classes + 1) + 1) +
         working_bytes(classes, window_zyx, most_pixels, widest);
}

TensorCanvas::TensorCanvas(std::int64_t classes, const Window& window_zyx, std::int64_t most_pixels,
                           int device, PartUse use, Sink sink, std::int64_t widest)
    : classes_(classes), device_(device_of(device)), use_(std::move(use)), late_(std::move(sink)) {
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
  // LibTorch keeps what it has taken: what works on parts later finds it there.
  const double working = working_bytes(classes_, window, most_pixels, widest);
  if (!device_.is_cpu()) flat(static_cast<std::int64_t>(working), at::kByte);
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
  grid_.reset();
  if (use_.level0) start_grid(size);
}

void TensorCanvas::start_grid(const Axes& size) {
  const Level0 level0 = use_.level0(image_);
  const std::int64_t voxels = level0.shape_zyx[1] * level0.shape_zyx[2];
  grid_.emplace(size, level0, device_, kAtOnce,
                [this, voxels](std::int64_t z, const at::Tensor& probabilities) {
                  send({image_, z, probabilities, classes_of(probabilities), {}, {}},
                       static_cast<std::size_t>(voxels), 0);
                  late_.deliver();
                });
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
  late_.deliver();
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
  if (tile.truth == nullptr || grid_) return;  // the truth of level 0 is not resampled
  in_image(truth_ring_)
      .copy_(in_tile(tensor_at(tile.truth, {tile_[0], tile_[1], tile_[2]}, at::kByte, device_)));
}

LateParts::Parts TensorCanvas::parts_from(std::int64_t first, std::int64_t count,
                                          std::size_t pixels, bool covered) const {
  LateParts::Parts parts;
  parts.image = image_;
  parts.first = first;
  parts.count = count;
  parts.pixels = pixels;
  parts.covered = covered;
  if (use_.probabilities) parts.probability_rows = static_cast<std::size_t>(classes_);
  parts.score_rows = use_.score_rows;
  return parts;
}

void TensorCanvas::release(std::int64_t first, std::span<const Reach> parts) {
  if (grid_) return resample(first, first + static_cast<std::int64_t>(parts.size()));
  const std::int64_t most = std::max<std::int64_t>(1, kAtOnce / std::max<std::int64_t>(1, pixels_));
  while (!parts.empty()) {
    const bool covered = parts.front().covered();
    std::size_t count = 1;
    while (count < parts.size() && parts[count].covered() == covered) ++count;
    auto together = static_cast<std::int64_t>(count);
    if (covered) {
      together = side_by_side(first, std::min(together, most));
      finish_parts(first, parts.first(static_cast<std::size_t>(together)));
    } else {
      late_.put(parts_from(first, together, static_cast<std::size_t>(pixels_), false));
    }
    parts = parts.subspan(static_cast<std::size_t>(together));
    first += together;
  }
  late_.deliver();
}

/// Parts that are covered and lie side by side in the ring.
void TensorCanvas::finish_parts(std::int64_t first, std::span<const Reach> parts) {
  Reach all = parts.front();
  for (const Reach& reach : parts)
    all = {std::min(all.begin, reach.begin), std::max(all.end, reach.end)};
  const auto count = static_cast<std::int64_t>(parts.size());
  const auto begin = static_cast<std::int64_t>(all.begin),
             size = static_cast<std::int64_t>(all.end - all.begin);
  const auto of = [&](const at::Tensor& ring) {
    return ring.flatten(-2).narrow(0, first % tile_[0], count).narrow(-1, begin, size);
  };
  at::Tensor weights = of(weight_ring_).squeeze(1);
  at::Tensor means = of(mean_ring_), truth = of(truth_ring_);
  const at::Tensor predicted =
      classes_of(means).masked_fill_(weights.gt(0).logical_not(), kIgnoreLabel);
  send({image_, first, means, predicted, truth, {}}, static_cast<std::size_t>(pixels_), all.begin);
  weights.zero_();
  means.zero_();
  truth.fill_(kIgnoreLabel);
}

/// Parts that no tile reached are 0 in the ring.
void TensorCanvas::resample(std::int64_t first, std::int64_t end) {
  while (first < end) {
    const std::int64_t count = side_by_side(first, end - first);
    at::Tensor means = mean_ring_.narrow(0, first % tile_[0], count);
    grid_->add(means);
    means.zero_();
    weight_ring_.narrow(0, first % tile_[0], count).zero_();
    first += count;
  }
}

void TensorCanvas::send(PartTensors parts, std::size_t pixels, std::size_t begin) {
  if (use_.look) use_.look(parts);
  LateParts::Parts late = parts_from(parts.first, parts.predicted.size(0), pixels, true);
  late.begin = begin;
  late.predicted = parts.predicted;
  if (use_.truth) late.truth = parts.truth;
  if (use_.probabilities) late.probabilities = parts.means;
  late.scores = parts.scores;
  late_.put(std::move(late));
}

}  // namespace headrace::inference
