#include "learn/inference/host_canvas.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/ignore_label.hpp"

namespace headrace::inference {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

HostCanvas::HostCanvas(std::int64_t classes, const Window& window_zyx, Sink sink, ThreadPool* pool)
    : slides_(window_zyx[0].size() == 1),
      classes_(classes),
      window_(turned(window_zyx)),
      sink_(std::move(sink)),
      pool_(pool) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    tile_[axis] = static_cast<std::int64_t>(window_[axis].size());
}

void HostCanvas::start(std::uint32_t image, const Axes& size) {
  image_ = image;
  size_ = size;
  part_pixels_ = index(size_[1] * size_[2]);
  slots_.assign(index(tile_[0]), {});
}

void HostCanvas::blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) {
  spread(index(high - low),
         [&](std::size_t k) { blend_part(tiles, low + static_cast<std::int64_t>(k)); });
}

/// Part `at` of the tiles.
void HostCanvas::blend_part(std::span<const PlacedTile> tiles, std::int64_t at) {
  std::vector<float> shares(window_[2].size());
  prepare(slot(at));
  for (const PlacedTile& tile : tiles) {
    for (std::int64_t b = tile.begin[1]; b < tile.end[1]; ++b) {
      blend_row(tile, {at, b, tile.begin[2]}, {shares.data(), index(tile.end[2] - tile.begin[2])});
    }
  }
}

/// shares: for the newest tile's parts of its pixels' weights.
void HostCanvas::blend_row(const PlacedTile& tile, const Axes& in_image, std::span<float> shares) {
  const Axes in_tile{in_image[0] - tile.origin[0], in_image[1] - tile.origin[1],
                     in_image[2] - tile.origin[2]};
  const float w = window_[0][index(in_tile[0])] * window_[1][index(in_tile[1])];
  const float* wx = window_[2].data() + in_tile[2];
  const std::size_t row = index((in_tile[0] * tile_[1] + in_tile[1]) * tile_[2] + in_tile[2]);
  const std::size_t tile_pixels = index(tile_[0] * tile_[1] * tile_[2]);
  const std::size_t pixel = index(in_image[1] * size_[2] + in_image[2]);
  const std::size_t count = shares.size();
  Slot& own = slot(in_image[0]);
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

void HostCanvas::release(std::int64_t first, std::span<const Reach> parts) {
  spread(parts.size(), [&](std::size_t k) {
    Slot& own = slot(first + static_cast<std::int64_t>(k));
    prepare(own);
    choose_classes(own, parts[k]);
  });
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Slot& own = slot(first + static_cast<std::int64_t>(k));
    own.part.image = image_;
    own.part.at = first + static_cast<std::int64_t>(k);
    own.part.covered = parts[k].covered();
    sink_(own.part);
    blank(own, parts[k]);
  }
}

void HostCanvas::prepare(Slot& slot) const {
  const auto fit = [](auto& values, std::size_t size, auto value) {
    if (values.size() != size) values.assign(size, value);
  };
  fit(slot.part.probabilities, index(classes_) * part_pixels_, 0.0f);
  fit(slot.weights, part_pixels_, 0.0f);
  fit(slot.part.truth, part_pixels_, kIgnoreLabel);
  fit(slot.part.predicted, part_pixels_, kIgnoreLabel);
}

/// What the sink took is left to `prepare`.
void HostCanvas::blank(Slot& slot, const Reach& reach) const {
  const std::size_t begin = reach.begin, count = reach.end - reach.begin;
  if (count == 0) return;
  std::fill_n(slot.weights.data() + begin, count, 0.0f);
  StitchedPart& part = slot.part;
  if (!part.truth.empty()) std::fill_n(part.truth.data() + begin, count, kIgnoreLabel);
  if (!part.predicted.empty()) std::fill_n(part.predicted.data() + begin, count, kIgnoreLabel);
  if (part.probabilities.empty()) return;
  for (std::size_t c = 0; c < index(classes_); ++c)
    std::fill_n(part.probabilities.data() + c * part_pixels_ + begin, count, 0.0f);
}

/// Classes of the pixels that tiles have reached.
void HostCanvas::choose_classes(Slot& slot, const Reach& reach) const {
  const std::size_t begin = reach.begin, count = reach.end - begin;
  const float* means = slot.part.probabilities.data() + begin;
  const float* weight = slot.weights.data() + begin;
  std::uint8_t* predicted = slot.part.predicted.data() + begin;
  std::vector<float> largest(means, means + count);  // of each pixel so far
  float* highest = largest.data();
  std::fill_n(predicted, count, std::uint8_t{0});
  const auto classes = index(classes_);
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

void HostCanvas::spread(std::size_t count, const std::function<void(std::size_t)>& body) {
  constexpr std::size_t kGrain = 8;  // parts; rows of a slide are little work
  if (pool_ != nullptr) {
    pool_->parallel_for(count, body, slides_ ? kGrain : 1);
  } else {
    for (std::size_t k = 0; k < count; ++k) body(k);
  }
}

}  // namespace headrace::inference
