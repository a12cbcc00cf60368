#include "learn/train/slide/slide_examples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "headrace/core/ignore_label.hpp"
#include "headrace/zarr/array.hpp"
#include "learn/report/outline.hpp"

namespace headrace::train {
namespace {

constexpr std::int64_t kLongest = 512;

pixels::Image8 read_level(const cohort::Cohort& cohort, std::uint32_t image, std::size_t level) {
  const cohort::ImageLevel& of = cohort.images()[image].levels[level];
  pixels::Image8 out(of.height, of.width, 3);
  cohort.image_array(image, level)
      ->read({{0, 0, 0},
              {3, of.height, of.width},
              reinterpret_cast<std::byte*>(out.pixels.data()),
              {1, of.width * 3, 3},
              {}});
  return out;
}

/// The coarsest level that is not smaller than the picture.
std::size_t level_for(const cohort::ImageRecord& record, std::int64_t longest) {
  std::size_t level = 0;
  while (level + 1 < record.levels.size() &&
         std::max(record.levels[level + 1].height, record.levels[level + 1].width) >= longest)
    ++level;
  return level;
}

}  // namespace

void SlideOverview::start(std::int64_t height, std::int64_t width) {
  last_row_ = height - 1;
  step_ = std::max<std::int64_t>(1, (std::max(height, width) + kLongest - 1) / kLongest);
  labels_.height = (height + step_ - 1) / step_;
  labels_.width = (width + step_ - 1) / step_;
  const auto pixels = static_cast<std::size_t>(labels_.height * labels_.width);
  labels_.predicted.assign(pixels, kIgnoreLabel);
  labels_.truth.assign(pixels, kIgnoreLabel);
}

void SlideOverview::add(const inference::StitchedPart& row) {
  const auto width = static_cast<std::int64_t>(row.predicted.size());
  const std::int64_t y = row.at / step_;
  // The last block may end above its middle.
  if (row.at != std::min(last_row_, y * step_ + step_ / 2)) return;
  for (std::int64_t x = 0; x < labels_.width; ++x) {
    const auto from = static_cast<std::size_t>(std::min(width - 1, x * step_ + step_ / 2));
    const auto to = static_cast<std::size_t>(y * labels_.width + x);
    labels_.predicted[to] = row.predicted[from];
    labels_.truth[to] = row.truth[from];
  }
}

ExamplePictures slide_pictures(const cohort::Cohort& cohort, const ShownImage& image) {
  const cohort::ImageRecord& record = cohort.images()[image.image];
  const cohort::ImageLevel& whole = record.levels.front();
  const double shrink = std::min(1.0, static_cast<double>(kLongest) /
                                          static_cast<double>(std::max(whole.height, whole.width)));
  const auto shrunk = [&](std::int64_t edge) {
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(edge) * shrink));
  };
  const std::int64_t height = shrunk(whole.height), width = shrunk(whole.width);
  const pixels::Image8 level =
      read_level(cohort, image.image, level_for(record, std::max(height, width)));
  const auto scaled = [](std::int64_t i, std::int64_t of, std::int64_t to) {
    return std::min(
        to - 1, static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * static_cast<double>(to) /
                                          static_cast<double>(of)));
  };
  ExamplePictures out;
  out.original = pixels::Image8(height, width, 3);
  std::vector<std::uint8_t> predicted(static_cast<std::size_t>(height * width)), truth(predicted);
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint8_t* from = level.row(scaled(y, height, level.height));
    const std::int64_t label_y = scaled(y, height, image.labels.height);
    for (std::int64_t x = 0; x < width; ++x) {
      std::copy_n(from + 3 * scaled(x, width, level.width), 3, out.original.row(y) + 3 * x);
      const auto at = static_cast<std::size_t>(label_y * image.labels.width +
                                               scaled(x, width, image.labels.width));
      predicted[static_cast<std::size_t>(y * width + x)] = image.labels.predicted[at];
      truth[static_cast<std::size_t>(y * width + x)] = image.labels.truth[at];
    }
  }
  out.truth = report::outlined(out.original, truth);
  out.prediction = report::outlined(out.original, predicted);
  return out;
}

}  // namespace headrace::train
