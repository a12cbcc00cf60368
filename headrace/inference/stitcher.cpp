#include "headrace/inference/stitcher.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::inference {

Stitcher::Axes Stitcher::turned(const Axes& zyx) const {
  return slides_ ? Axes{zyx[1], zyx[0], zyx[2]} : zyx;
}

Stitcher::Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink,
                   ThreadPool* pool)
    : slides_(window_zyx[0].size() == 1),
      classes_(classes),
      window_(window_zyx),
      extent_(std::move(extent)),
      sink_(std::move(sink)),
      pool_(pool) {
  if (slides_) std::swap(window_[0], window_[1]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    tile_[axis] = static_cast<std::int64_t>(window_[axis].size());
}

void Stitcher::start_image(std::uint32_t image) {
  image_ = image;
  size_ = turned(extent_(image));
  first_ = 0;
  part_pixels_ = static_cast<std::size_t>(size_[1] * size_[2]);
  slots_.assign(static_cast<std::size_t>(tile_[0]), {});
  open_ = true;
}

std::span<const TileResult> Stitcher::side_by_side(std::span<const TileResult> tiles) const {
  const TileResult& front = tiles.front();
  const std::int64_t first = turned(front.origin_zyx)[0];
  std::size_t count = 1;
  while (count < tiles.size() && tiles[count].image == front.image &&
         turned(tiles[count].origin_zyx)[0] == first)
    ++count;
  return tiles.first(count);
}

void Stitcher::add(std::span<const TileResult> tiles) {
  while (!tiles.empty()) {
    const auto row = side_by_side(tiles);
    const std::uint32_t image = row.front().image;
    if (!open_ || image != image_) {
      if (open_ && image < image_) {
        fail(ErrorCode::internal, "Tiles come out of order: image {} after {}.", image, image_);
      }
      if (open_) release(size_[0]);
      start_image(image);
    }
    const std::int64_t origin = turned(row.front().origin_zyx)[0];
    const std::int64_t low = std::max<std::int64_t>(0, origin);
    const std::int64_t high = std::min(size_[0], origin + tile_[0]);
    if (low < first_) {
      fail(ErrorCode::internal, "Tiles of image {} come out of order: row {} after {}.", image_,
           low, first_);
    }
    release(std::min(low, size_[0]));
    if (low < high) {
      spread(static_cast<std::size_t>(high - low),
             [&](std::size_t k) { blend(row, low + static_cast<std::int64_t>(k)); });
    }
    tiles = tiles.subspan(row.size());
  }
}

/// Part `at` of the tiles.
void Stitcher::blend(std::span<const TileResult> tiles, std::int64_t at) {
  std::vector<float> shares(window_[2].size());
  prepare(slot(at));
  for (const TileResult& tile : tiles) {
    const Axes origin = turned(tile.origin_zyx);
    const std::int64_t x0 = std::max<std::int64_t>(0, origin[2]);
    const std::int64_t x1 = std::min(size_[2], origin[2] + tile_[2]);
    const std::int64_t b0 = std::max<std::int64_t>(0, origin[1]);
    const std::int64_t b1 = std::min(size_[1], origin[1] + tile_[1]);
    if (x1 <= x0) continue;
    for (std::int64_t b = b0; b < b1; ++b) {
      blend_row(tile, {at - origin[0], b - origin[1], x0 - origin[2]}, {at, b, x0},
                {shares.data(), static_cast<std::size_t>(x1 - x0)});
    }
  }
}

/// shares: for the newest tile's parts of its pixels' weights.
void Stitcher::blend_row(const TileResult& tile, const Axes& in_tile, const Axes& in_image,
                         std::span<float> shares) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const float w = window_[0][index(in_tile[0])] * window_[1][index(in_tile[1])];
  const float* wx = window_[2].data() + in_tile[2];
  const std::size_t row = index((in_tile[0] * tile_[1] + in_tile[1]) * tile_[2] + in_tile[2]);
  const std::size_t tile_pixels = index(tile_[0] * tile_[1] * tile_[2]);
  const std::size_t pixel = index(in_image[1] * size_[2] + in_image[2]);
  const std::size_t count = shares.size();
  Slot& own = slot(in_image[0]);
  own.begin = own.end == 0 ? pixel : std::min(own.begin, pixel);
  own.end = std::max(own.end, pixel + count);
  float* weight = own.weights.data() + pixel;
  float* share = shares.data();
  for (std::size_t i = 0; i < count; ++i) {
    const float added = w * wx[i];
    weight[i] += added;
    share[i] = added / weight[i];
  }
  for (std::size_t c = 0; c < index(classes_); ++c) {
    const float* p = tile.probabilities + c * tile_pixels + row;
    float* mean = own.part.probabilities.data() + c * part_pixels_ + pixel;
    for (std::size_t i = 0; i < count; ++i) mean[i] += share[i] * (p[i] - mean[i]);
  }
  if (tile.truth == nullptr) return;
  std::copy_n(tile.truth + row, count, own.part.truth.data() + pixel);
}

void Stitcher::release(std::int64_t end) {
  while (first_ < end) {
    const std::int64_t count = std::min(end - first_, tile_[0]);
    spread(static_cast<std::size_t>(count), [&](std::size_t k) {
      Slot& own = slot(first_ + static_cast<std::int64_t>(k));
      prepare(own);
      choose_classes(own);
    });
    for (const std::int64_t stop = first_ + count; first_ < stop; ++first_) {
      Slot& own = slot(first_);
      own.part.image = image_;
      own.part.at = first_;
      own.part.covered = own.end > 0;
      sink_(own.part);
      blank(own);
    }
  }
}

void Stitcher::prepare(Slot& slot) const {
  const auto fit = [](auto& values, std::size_t size, auto value) {
    if (values.size() != size) values.assign(size, value);
  };
  fit(slot.part.probabilities, static_cast<std::size_t>(classes_) * part_pixels_, 0.0f);
  fit(slot.weights, part_pixels_, 0.0f);
  fit(slot.part.truth, part_pixels_, kIgnoreLabel);
  fit(slot.part.predicted, part_pixels_, kIgnoreLabel);
}

/// What the sink took is left to `prepare`.
void Stitcher::blank(Slot& slot) const {
  const std::size_t begin = std::exchange(slot.begin, 0);
  const std::size_t count = std::exchange(slot.end, 0) - begin;
  if (count == 0) return;
  std::fill_n(slot.weights.data() + begin, count, 0.0f);
  StitchedPart& part = slot.part;
  if (!part.truth.empty()) std::fill_n(part.truth.data() + begin, count, kIgnoreLabel);
  if (!part.predicted.empty()) std::fill_n(part.predicted.data() + begin, count, kIgnoreLabel);
  if (part.probabilities.empty()) return;
  for (std::size_t c = 0; c < static_cast<std::size_t>(classes_); ++c)
    std::fill_n(part.probabilities.data() + c * part_pixels_ + begin, count, 0.0f);
}

/// Classes of the pixels that tiles have reached.
void Stitcher::choose_classes(Slot& slot) const {
  const std::size_t begin = slot.begin, count = slot.end - begin;
  const float* means = slot.part.probabilities.data() + begin;
  const float* weight = slot.weights.data() + begin;
  std::uint8_t* predicted = slot.part.predicted.data() + begin;
  std::vector<float> largest(means, means + count);  // of each pixel so far
  float* highest = largest.data();
  std::fill_n(predicted, count, std::uint8_t{0});
  const auto classes = static_cast<std::size_t>(classes_);
  for (std::size_t c = 1; c < classes; ++c) {
    const float* mean = means + c * part_pixels_;
    for (std::size_t i = 0; i < count; ++i)
      highest[i] = mean[i] > highest[i] ? mean[i] : highest[i];
  }
  for (std::size_t c = classes; c-- > 0;) {  // so that of equals the lower class stays
    const float* mean = means + c * part_pixels_;
    const auto value = static_cast<std::uint8_t>(c);
    for (std::size_t i = 0; i < count; ++i)
      predicted[i] = mean[i] == highest[i] ? value : predicted[i];
  }
  for (std::size_t i = 0; i < count; ++i)
    predicted[i] = weight[i] > 0 ? predicted[i] : kIgnoreLabel;
}

void Stitcher::spread(std::size_t count, const std::function<void(std::size_t)>& body) {
  constexpr std::size_t kGrain = 8;  // parts; rows of a slide are little work
  if (pool_ != nullptr) {
    pool_->parallel_for(count, body, slides_ ? kGrain : 1);
  } else {
    for (std::size_t k = 0; k < count; ++k) body(k);
  }
}

void Stitcher::finish() {
  if (open_) release(size_[0]);
  open_ = false;
}

}  // namespace headrace::inference
