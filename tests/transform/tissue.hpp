#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform::fixtures {

/// Tissue-like colours with detail at every scale, of any size, from a fixed seed: enough for
/// geometry and arithmetic. Real tissue is used where colours must be real
/// (stain_estimate_test.cpp).
struct Level {
  std::int64_t height, width;
  std::vector<std::uint8_t> rgb, label;

  Level(std::int64_t h, std::int64_t w, unsigned seed) : height(h), width(w) {
    std::mt19937 random(seed);
    rgb.resize(static_cast<std::size_t>(h * w * 3));
    label.resize(static_cast<std::size_t>(h * w));
    for (auto& v : rgb) v = static_cast<std::uint8_t>(random() >> 24);
    for (std::int64_t i = 0; i < h * w; ++i) {
      label[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((i / w / 7 + i % w / 5) % 6);
    }
  }
};

/// A window of a level as the loader makes it: pixels outside the level hold `poison`.
struct Window {
  std::vector<std::uint8_t> bytes;
  ImageView view;
  Box2 extent;
};

inline Window cut(const std::vector<std::uint8_t>& pixels, std::int64_t height, std::int64_t width,
                  int channels, const Box2& box, std::uint8_t poison) {
  Window w;
  const std::int64_t stride = box.width * channels + 13;
  w.bytes.assign(static_cast<std::size_t>(stride * box.height + 4), poison);
  const std::int64_t y0 = std::max<std::int64_t>(box.y0, 0),
                     y1 = std::min(box.y0 + box.height, height);
  const std::int64_t x0 = std::max<std::int64_t>(box.x0, 0),
                     x1 = std::min(box.x0 + box.width, width);
  for (std::int64_t y = y0; y < y1; ++y) {
    for (std::int64_t i = x0 * channels; i < x1 * channels; ++i) {
      w.bytes[static_cast<std::size_t>((y - box.y0) * stride + i - box.x0 * channels)] =
          pixels[static_cast<std::size_t>(y * width * channels + i)];
    }
  }
  w.view = {w.bytes.data(), static_cast<std::int32_t>(box.height),
            static_cast<std::int32_t>(box.width), stride};
  w.extent = {y0 - box.y0, x0 - box.x0, std::max<std::int64_t>(y1 - y0, 0),
              std::max<std::int64_t>(x1 - x0, 0)};
  return w;
}

}  // namespace headrace::transform::fixtures
