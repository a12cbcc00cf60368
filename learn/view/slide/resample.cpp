#include "learn/view/slide/resample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headrace::view {
namespace {

/// The pixels of a row or column under one pixel of the tile, from `begin` of those read.
struct Cover {
  std::int64_t begin = 0;
  std::vector<float> weights;  ///< together 1
};

struct AxisCovers {
  std::int64_t origin = 0, count = 0;  ///< of the level's pixels under the tile
  std::vector<Cover> pixels;
};

/// Bounds that differ from a whole number only by rounding are that number.
double settled(double bound) {
  const double whole = std::round(bound);
  return std::abs(bound - whole) < 1e-6 ? whole : bound;
}

AxisCovers covers_of(double first, double step, std::int64_t count, std::int64_t level_size) {
  AxisCovers axis;
  const auto last = static_cast<double>(level_size);
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = std::clamp(settled(first + static_cast<double>(i) * step), 0.0, last - 1e-3);
    const double b = std::clamp(settled(first + static_cast<double>(i + 1) * step), a + 1e-3, last);
    Cover cover{static_cast<std::int64_t>(std::floor(a)), {}};
    for (std::int64_t k = cover.begin; static_cast<double>(k) < b; ++k) {
      const auto pixel = static_cast<double>(k);
      const double part = std::min(b, pixel + 1) - std::max(a, pixel);
      cover.weights.push_back(static_cast<float>(part / (b - a)));
    }
    if (i == 0) axis.origin = cover.begin;
    end = std::max(end, cover.begin + static_cast<std::int64_t>(cover.weights.size()));
    cover.begin -= axis.origin;
    axis.pixels.push_back(std::move(cover));
  }
  axis.count = end - axis.origin;
  return axis;
}

/// One row of pixels, made narrower.
void add_row(const std::uint8_t* row, const AxisCovers& across, int channels, float weight,
             float* sums) {
  for (const Cover& cover : across.pixels) {
    const std::uint8_t* pixel = row + cover.begin * channels;
    for (const float part : cover.weights) {
      for (int c = 0; c < channels; ++c) sums[c] += weight * part * static_cast<float>(pixel[c]);
      pixel += channels;
    }
    sums += channels;
  }
}

}  // namespace

pixels::Image8 mean_tile(const SlidePicture& picture, std::size_t level, const TilePlace& place) {
  const PictureLevel& from = picture.levels()[level];
  const int channels = picture.channels();
  const AxisCovers down = covers_of(place.first_yx[0], place.step_yx[0], place.height, from.height);
  const AxisCovers across = covers_of(place.first_yx[1], place.step_yx[1], place.width, from.width);
  pixels::Image8 source(down.count, across.count, channels);
  picture.read(level, {down.origin, across.origin, down.count, across.count}, source.pixels.data());
  if (down.count == place.height && across.count == place.width) return source;
  pixels::Image8 tile(place.height, place.width, channels);
  std::vector<float> sums(static_cast<std::size_t>(place.width * channels));
  for (std::int64_t y = 0; y < place.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const Cover& cover = down.pixels[static_cast<std::size_t>(y)];
    for (std::size_t k = 0; k < cover.weights.size(); ++k) {
      const auto row = cover.begin + static_cast<std::int64_t>(k);
      add_row(source.row(row), across, channels, cover.weights[k], sums.data());
    }
    std::transform(sums.begin(), sums.end(), tile.row(y),
                   [](float sum) { return static_cast<std::uint8_t>(sum + 0.5F); });
  }
  return tile;
}

pixels::Image8 nearest_tile(const SlidePicture& picture, std::size_t level,
                            const TilePlace& place) {
  const PictureLevel& from = picture.levels()[level];
  const auto at = [&](std::size_t axis, std::int64_t i) {
    return static_cast<std::int64_t>(
        std::floor(place.first_yx[axis] + (static_cast<double>(i) + 0.5) * place.step_yx[axis]));
  };
  const std::int64_t y0 = at(0, 0), x0 = at(1, 0);
  const std::int64_t y1 = std::min(at(0, place.height - 1) + 1, from.height);
  const std::int64_t x1 = std::min(at(1, place.width - 1) + 1, from.width);
  pixels::Image8 tile(place.height, place.width, picture.channels());
  if (y1 <= y0 || x1 <= x0) return tile;
  pixels::Image8 source(y1 - y0, x1 - x0, picture.channels());
  picture.read(level, {y0, x0, source.height, source.width}, source.pixels.data());
  for (std::int64_t y = 0; y < place.height && at(0, y) < y1; ++y) {
    for (std::int64_t x = 0; x < place.width && at(1, x) < x1; ++x) {
      const std::uint8_t* pixel = source.row(at(0, y) - y0) + (at(1, x) - x0) * source.channels;
      std::copy_n(pixel, source.channels, tile.row(y) + x * tile.channels);
    }
  }
  return tile;
}

pixels::Image8 halved(const pixels::Image8& image) {
  pixels::Image8 half((image.height + 1) / 2, (image.width + 1) / 2, image.channels);
  for (std::int64_t y = 0; y < half.height; ++y) {
    const std::uint8_t* upper = image.row(2 * y);
    const std::uint8_t* lower = image.row(std::min(2 * y + 1, image.height - 1));
    for (std::int64_t x = 0; x < half.width; ++x) {
      const std::int64_t left = 2 * x * image.channels;
      const std::int64_t right = std::min(2 * x + 1, image.width - 1) * image.channels;
      for (std::int64_t c = 0; c < image.channels; ++c) {
        const int sum = upper[left + c] + upper[right + c] + lower[left + c] + lower[right + c];
        half.row(y)[x * image.channels + c] = static_cast<std::uint8_t>((sum + 2) / 4);
      }
    }
  }
  return half;
}

}  // namespace headrace::view
