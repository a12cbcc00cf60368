#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "learn/handover/slide/predicted_slide.hpp"

namespace headrace::handover {

/// A class map, row by row.
struct HandMap {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> classes;

  std::uint8_t at(std::int64_t y, std::int64_t x) const {
    return classes[static_cast<std::size_t>(y * width + x)];
  }
};

/// Blobs of classes 0 to 3 with ragged borders, holes, lone pixels and pixels that touch at
/// corners; rows at the top were not predicted.
inline HandMap blobs(std::int64_t height, std::int64_t width) {
  HandMap map{height, width, {}};
  std::uint32_t random = 1;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      random = random * 1664525u + 1013904223u;
      const auto fy = static_cast<double>(y), fx = static_cast<double>(x);
      const double wave = std::sin(fx / 17) + std::sin(fy / 23) + std::sin((fx + fy) / 11);
      const double value = wave + 0.15 * (random >> 16) / 65536.0;
      map.classes.push_back(y < 3 ? 255
                                  : static_cast<std::uint8_t>(std::clamp(1 + value, 0.0, 3.0)));
    }
  }
  return map;
}

inline imaging::LabelLevel label_level(HandMap map) {
  const std::int64_t height = map.height, width = map.width;
  return {height, width,
          [map = std::move(map)](std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w,
                                 std::uint8_t* dst, std::int64_t stride) {
            for (std::int64_t y = 0; y < h; ++y) {
              for (std::int64_t x = 0; x < w; ++x) dst[y * stride + x] = map.at(y0 + y, x0 + x);
            }
          }};
}

/// Every second pixel of every second row.
inline HandMap halved(const HandMap& map) {
  HandMap half{(map.height + 1) / 2, (map.width + 1) / 2, {}};
  for (std::int64_t y = 0; y < half.height; ++y) {
    for (std::int64_t x = 0; x < half.width; ++x) half.classes.push_back(map.at(2 * y, 2 * x));
  }
  return half;
}

/// The prediction with this class map: 2 micrometres a pixel, 4 pixels of level 0 a pixel. The
/// probability of a pixel's own class is 204 / 255, those of the others 17 / 255.
inline PredictedSlide slide_of(const HandMap& map) {
  PredictedSlide slide;
  slide.facts.id = "case-1/<A> & B";
  slide.facts.task = "gleason";
  slide.facts.classes = {"background", "benign", "grade \"3\"", "grade <4>"};
  slide.facts.networks.resize(1);
  slide.facts.networks[0].weights_sha256 = std::string(64, 'a');
  slide.facts.slide = {{map.height, map.width, 2.0, {4, 4}, 4 * map.height, 4 * map.width}};
  for (HandMap level = map;; level = halved(level)) {
    slide.classes.push_back(label_level(level));
    if (level.width <= 128) break;
  }
  slide.probability = [map](std::int64_t y0, std::int64_t rows, std::uint8_t* dst) {
    for (std::int64_t y = y0; y < y0 + rows; ++y) {
      for (std::uint8_t c = 0; c < 4; ++c) {
        for (std::int64_t x = 0; x < map.width; ++x) *dst++ = map.at(y, x) == c ? 204 : 17;
      }
    }
  };
  return slide;
}

}  // namespace headrace::handover
