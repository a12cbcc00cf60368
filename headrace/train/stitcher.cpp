#include "headrace/train/stitcher.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::train {
namespace {

/// Rises from the edge to 1 over `overlap` pixels, symmetric, never 0.
std::vector<float> edge_weights(std::int64_t size, std::int64_t overlap) {
  std::vector<float> weights(static_cast<std::size_t>(size), 1.0f);
  if (size == 1) return weights;  // the axis that a slide does not have
  const auto ramp =
      static_cast<float>(std::clamp<std::int64_t>(overlap, 1, std::max<std::int64_t>(1, size / 2)));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto from_edge = static_cast<float>(std::min(i, size - 1 - i)) + 0.5f;
    weights[static_cast<std::size_t>(i)] = std::min(1.0f, from_edge / ramp);
  }
  return weights;
}

}  // namespace

Stitcher::Axes Stitcher::turned(const Axes& zyx) const {
  return slides_ ? Axes{zyx[1], zyx[0], zyx[2]} : zyx;
}

Stitcher::Stitcher(std::int64_t classes, const Axes& tile_zyx, const Axes& overlap_zyx,
                   Extent extent, Sink sink)
    : slides_(tile_zyx[0] == 1),
      classes_(classes),
      tile_(turned(tile_zyx)),
      extent_(std::move(extent)),
      sink_(std::move(sink)) {
  const Axes overlap = turned(overlap_zyx);
  for (std::size_t axis = 0; axis < 3; ++axis)
    weights_[axis] = edge_weights(tile_[axis], overlap[axis]);
}

void Stitcher::start_image(std::uint32_t image) {
  image_ = image;
  size_ = turned(extent_(image));
  first_ = 0;
  part_pixels_ = static_cast<std::size_t>(size_[1] * size_[2]);
  const std::size_t pixels = static_cast<std::size_t>(tile_[0]) * part_pixels_;
  sums_.assign(pixels * static_cast<std::size_t>(classes_), 0.0f);
  covered_.assign(pixels, 0);
  truth_.assign(pixels, kIgnoreLabel);
  predicted_.assign(part_pixels_, kIgnoreLabel);
  open_ = true;
}

void Stitcher::add(const TileResult& tile) {
  if (!open_ || tile.image != image_) {
    if (open_ && tile.image < image_) {
      fail(ErrorCode::internal, "Tiles come out of order: image {} after {}.", tile.image, image_);
    }
    if (open_) release(size_[0]);
    start_image(tile.image);
  }
  const Axes origin = turned(tile.origin_zyx);
  Axes low{}, high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = std::max<std::int64_t>(0, origin[axis]);
    high[axis] = std::min(size_[axis], origin[axis] + tile_[axis]);
  }
  if (low[0] < first_) {
    fail(ErrorCode::internal, "Tiles of image {} come out of order: row {} after {}.", image_,
         low[0], first_);
  }
  release(std::min(low[0], size_[0]));
  if (high[2] <= low[2]) return;
  for (std::int64_t a = low[0]; a < high[0]; ++a) {
    for (std::int64_t b = low[1]; b < high[1]; ++b) {
      blend_row(tile, {a - origin[0], b - origin[1], low[2] - origin[2]}, {a, b, low[2]},
                static_cast<std::size_t>(high[2] - low[2]));
    }
  }
}

void Stitcher::blend_row(const TileResult& tile, const Axes& in_tile, const Axes& in_image,
                         std::size_t count) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const float w = weights_[0][index(in_tile[0])] * weights_[1][index(in_tile[1])];
  const float* wx = weights_[2].data() + in_tile[2];
  const std::size_t row = index((in_tile[0] * tile_[1] + in_tile[1]) * tile_[2] + in_tile[2]);
  const std::size_t tile_pixels = index(tile_[0] * tile_[1] * tile_[2]);
  const std::size_t pixel = index(in_image[1] * size_[2] + in_image[2]);
  for (std::size_t c = 0; c < index(classes_); ++c) {
    const float* p = tile.probabilities + c * tile_pixels + row;
    float* sum = sums_.data() + (slot(in_image[0]) * index(classes_) + c) * part_pixels_ + pixel;
    for (std::size_t i = 0; i < count; ++i) sum[i] += w * wx[i] * p[i];
  }
  const auto at = static_cast<std::ptrdiff_t>(slot(in_image[0]) * part_pixels_ + pixel);
  std::fill_n(covered_.begin() + at, count, std::uint8_t{1});
  if (tile.truth != nullptr) std::copy_n(tile.truth + row, count, truth_.begin() + at);
}

void Stitcher::release(std::int64_t end) {
  for (; first_ < end; ++first_) release_part(first_);
}

void Stitcher::release_part(std::int64_t at) {
  const std::size_t pixels = part_pixels_, classes = static_cast<std::size_t>(classes_);
  float* sums = sums_.data() + slot(at) * classes * pixels;
  std::uint8_t* covered = covered_.data() + slot(at) * pixels;
  std::uint8_t* truth = truth_.data() + slot(at) * pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c) {
      if (sums[c * pixels + i] > sums[best * pixels + i]) best = c;
    }
    predicted_[i] = covered[i] != 0 ? static_cast<std::uint8_t>(best) : kIgnoreLabel;
  }
  sink_({image_, at, predicted_, {truth, pixels}, {sums, classes * pixels}});
  std::fill_n(sums, classes * pixels, 0.0f);
  std::fill_n(covered, pixels, std::uint8_t{0});
  std::fill_n(truth, pixels, kIgnoreLabel);
}

void Stitcher::finish() {
  if (open_) release(size_[0]);
  open_ = false;
}

}  // namespace headrace::train
