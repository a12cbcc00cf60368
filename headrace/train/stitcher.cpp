#include "headrace/train/stitcher.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::train {
namespace {

constexpr std::uint8_t kNone = 255;

/// Rises from the edge to 1 over `overlap` pixels, symmetric, never 0.
std::vector<float> edge_weights(std::int64_t size, std::int64_t overlap) {
  std::vector<float> weights(static_cast<std::size_t>(size), 1.0f);
  const auto ramp =
      static_cast<float>(std::clamp<std::int64_t>(overlap, 1, std::max<std::int64_t>(1, size / 2)));
  for (std::int64_t i = 0; i < size; ++i) {
    const auto from_edge = static_cast<float>(std::min(i, size - 1 - i)) + 0.5f;
    weights[static_cast<std::size_t>(i)] = std::min(1.0f, from_edge / ramp);
  }
  return weights;
}

}  // namespace

Stitcher::Stitcher(std::int64_t classes, std::int64_t tile_height, std::int64_t tile_width,
                   std::int64_t overlap_px, Extent extent, RowSink sink)
    : classes_(classes),
      tile_height_(tile_height),
      tile_width_(tile_width),
      weight_y_(edge_weights(tile_height, overlap_px)),
      weight_x_(edge_weights(tile_width, overlap_px)),
      extent_(std::move(extent)),
      sink_(std::move(sink)) {}

void Stitcher::start_image(std::uint32_t image) {
  image_ = image;
  const auto [height, width] = extent_(image);
  height_ = height;
  width_ = width;
  first_row_ = 0;
  const auto pixels = static_cast<std::size_t>(tile_height_ * width_);
  sums_.assign(pixels * static_cast<std::size_t>(classes_), 0.0f);
  covered_.assign(pixels, 0);
  truth_.assign(pixels, kNone);
  predicted_.assign(static_cast<std::size_t>(width_), kNone);
  open_ = true;
}

void Stitcher::add(const TileResult& tile) {
  if (!open_ || tile.image != image_) {
    if (open_ && tile.image < image_) {
      fail(ErrorCode::internal, "Tiles come out of order: image {} after {}.", tile.image, image_);
    }
    if (open_) release_rows(height_);
    start_image(tile.image);
  }
  const std::int64_t top = std::max<std::int64_t>(0, tile.origin_yx[0]);
  const std::int64_t bottom = std::min(height_, tile.origin_yx[0] + tile_height_);
  const std::int64_t left = std::max<std::int64_t>(0, tile.origin_yx[1]);
  const std::int64_t right = std::min(width_, tile.origin_yx[1] + tile_width_);
  if (top < first_row_) {
    fail(ErrorCode::internal, "Tiles of image {} come out of order: row {} after {}.", image_, top,
         first_row_);
  }
  release_rows(std::min(top, height_));
  if (right <= left) return;
  const auto count = static_cast<std::size_t>(right - left);
  for (std::int64_t y = top; y < bottom; ++y) {
    const std::int64_t ty = y - tile.origin_yx[0], tx = left - tile.origin_yx[1];
    const float wy = weight_y_[static_cast<std::size_t>(ty)];
    const float* wx = weight_x_.data() + tx;
    const std::size_t at =
        slot(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(left);
    for (std::int64_t c = 0; c < classes_; ++c) {
      const float* p = tile.probabilities + (c * tile_height_ + ty) * tile_width_ + tx;
      float* sum = sums_.data() +
                   (slot(y) * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(c)) *
                       static_cast<std::size_t>(width_) +
                   left;
      for (std::size_t i = 0; i < count; ++i) sum[i] += wy * wx[i] * p[i];
    }
    std::fill_n(covered_.begin() + static_cast<std::ptrdiff_t>(at), count, std::uint8_t{1});
    if (tile.truth != nullptr) {
      std::copy_n(tile.truth + ty * tile_width_ + tx, count,
                  truth_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

void Stitcher::release_rows(std::int64_t end) {
  for (; first_row_ < end; ++first_row_) release_row(first_row_);
}

void Stitcher::release_row(std::int64_t y) {
  const auto width = static_cast<std::size_t>(width_);
  float* sums = sums_.data() + slot(y) * static_cast<std::size_t>(classes_) * width;
  std::uint8_t* covered = covered_.data() + slot(y) * width;
  std::uint8_t* truth = truth_.data() + slot(y) * width;
  for (std::size_t x = 0; x < width; ++x) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < static_cast<std::size_t>(classes_); ++c) {
      if (sums[c * width + x] > sums[best * width + x]) best = c;
    }
    predicted_[x] = covered[x] != 0 ? static_cast<std::uint8_t>(best) : kNone;
  }
  sink_({image_, y, predicted_, {truth, width}});
  std::fill_n(sums, static_cast<std::size_t>(classes_) * width, 0.0f);
  std::fill_n(covered, width, std::uint8_t{0});
  std::fill_n(truth, width, kNone);
}

void Stitcher::finish() {
  if (open_) release_rows(height_);
  open_ = false;
}

}  // namespace headrace::train
