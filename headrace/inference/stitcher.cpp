#include "headrace/inference/stitcher.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::inference {

Stitcher::Axes Stitcher::turned(const Axes& zyx) const {
  return slides_ ? Axes{zyx[1], zyx[0], zyx[2]} : zyx;
}

Stitcher::Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink)
    : slides_(window_zyx[0].size() == 1),
      classes_(classes),
      window_(window_zyx),
      extent_(std::move(extent)),
      sink_(std::move(sink)) {
  if (slides_) std::swap(window_[0], window_[1]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    tile_[axis] = static_cast<std::int64_t>(window_[axis].size());
  parts_.resize(window_[2].size());
}

void Stitcher::start_image(std::uint32_t image) {
  image_ = image;
  size_ = turned(extent_(image));
  first_ = 0;
  part_pixels_ = static_cast<std::size_t>(size_[1] * size_[2]);
  const std::size_t pixels = static_cast<std::size_t>(tile_[0]) * part_pixels_;
  means_.assign(pixels * static_cast<std::size_t>(classes_), 0.0f);
  weights_.assign(pixels, 0.0f);
  truth_.assign(pixels, kIgnoreLabel);
  predicted_.assign(part_pixels_, kIgnoreLabel);
  highest_.resize(part_pixels_);
  reached_.assign(static_cast<std::size_t>(tile_[0]), {});
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
  const float w = window_[0][index(in_tile[0])] * window_[1][index(in_tile[1])];
  const float* wx = window_[2].data() + in_tile[2];
  const std::size_t row = index((in_tile[0] * tile_[1] + in_tile[1]) * tile_[2] + in_tile[2]);
  const std::size_t tile_pixels = index(tile_[0] * tile_[1] * tile_[2]);
  const std::size_t pixel = index(in_image[1] * size_[2] + in_image[2]);
  float* weight = weights_.data() + slot(in_image[0]) * part_pixels_ + pixel;
  Reached& reached = reached_[slot(in_image[0])];
  reached = reached.end == 0
                ? Reached{pixel, pixel + count}
                : Reached{std::min(reached.begin, pixel), std::max(reached.end, pixel + count)};
  for (std::size_t i = 0; i < count; ++i) {
    const float own = w * wx[i];
    weight[i] += own;
    parts_[i] = own / weight[i];
  }
  for (std::size_t c = 0; c < index(classes_); ++c) {
    const float* p = tile.probabilities + c * tile_pixels + row;
    float* mean = means_.data() + (slot(in_image[0]) * index(classes_) + c) * part_pixels_ + pixel;
    for (std::size_t i = 0; i < count; ++i) mean[i] += parts_[i] * (p[i] - mean[i]);
  }
  if (tile.truth == nullptr) return;
  const auto at = static_cast<std::ptrdiff_t>(slot(in_image[0]) * part_pixels_ + pixel);
  std::copy_n(tile.truth + row, count, truth_.begin() + at);
}

void Stitcher::release(std::int64_t end) {
  for (; first_ < end; ++first_) release_part(first_);
}

void Stitcher::choose_classes(const float* means, const float* weight, std::size_t begin,
                              std::size_t end) {
  // Local pointers: a store of a byte might otherwise change the vectors' own, for the compiler.
  float* highest = highest_.data();
  std::uint8_t* predicted = predicted_.data();
  std::copy(means + begin, means + end, highest + begin);
  std::fill(predicted + begin, predicted + end, std::uint8_t{0});
  const auto classes = static_cast<std::size_t>(classes_);
  for (std::size_t c = 1; c < classes; ++c) {
    const float* mean = means + c * part_pixels_;
    for (std::size_t i = begin; i < end; ++i)
      highest[i] = mean[i] > highest[i] ? mean[i] : highest[i];
  }
  for (std::size_t c = classes; c-- > 0;) {  // so that of equals the lower class stays
    const float* mean = means + c * part_pixels_;
    const auto value = static_cast<std::uint8_t>(c);
    for (std::size_t i = begin; i < end; ++i)
      predicted[i] = mean[i] == highest[i] ? value : predicted[i];
  }
  for (std::size_t i = begin; i < end; ++i)
    predicted[i] = weight[i] > 0 ? predicted[i] : kIgnoreLabel;
}

void Stitcher::release_part(std::int64_t at) {
  const std::size_t pixels = part_pixels_, classes = static_cast<std::size_t>(classes_);
  float* means = means_.data() + slot(at) * classes * pixels;
  float* weight = weights_.data() + slot(at) * pixels;
  std::uint8_t* truth = truth_.data() + slot(at) * pixels;
  const auto [begin, end] = std::exchange(reached_[slot(at)], {});
  choose_classes(means, weight, begin, end);
  sink_({image_, at, predicted_, {truth, pixels}, {means, classes * pixels}});
  const std::size_t count = end - begin;
  for (std::size_t c = 0; c < classes; ++c) std::fill_n(means + c * pixels + begin, count, 0.0f);
  std::fill_n(weight + begin, count, 0.0f);
  std::fill_n(truth + begin, count, kIgnoreLabel);
  std::fill_n(predicted_.data() + begin, count, kIgnoreLabel);
}

void Stitcher::finish() {
  if (open_) release(size_[0]);
  open_ = false;
}

}  // namespace headrace::inference
