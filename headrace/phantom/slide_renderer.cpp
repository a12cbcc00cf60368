#include "headrace/phantom/slide_renderer.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/phantom/tissue_canvas.hpp"

namespace headrace::phantom {
namespace {

constexpr int kDensitySteps = 1024, kDensityMax = 4;
// 10^(-1/1024), so that the table is made by IEEE products alone and is the same on every machine.
constexpr double kOneStep = 0.99775389660770963;

/// Rows and columns swept by the 3-tap blur, one pixel around the region.
constexpr std::int64_t kApron = 1;

struct Scratch {
  TissueCanvas canvas;
  std::vector<std::uint16_t> light, blurred;  // RGB, 64ths of a grey value
};

Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

/// [b, 64 - 2b, b] / 64 over `count` samples that are `step` apart, with one more on either side.
std::uint16_t tap(const std::uint16_t* at, std::int64_t step, unsigned side) {
  const unsigned sum = side * (unsigned(at[-step]) + at[step]) + (64 - 2 * side) * unsigned(at[0]);
  return static_cast<std::uint16_t>((sum + 32) >> 6);
}

}  // namespace

SlideRenderer::SlideRenderer(const SlideSpec& spec, const ScannerLook& look)
    : anatomy_(spec), look_(look) {
  double through = 65535;
  for (int i = 0; i <= kDensitySteps * kDensityMax; ++i) {
    transmission_.push_back(static_cast<std::uint16_t>(through + 0.5));
    through *= kOneStep;
  }
  // A uniform byte has a standard deviation of 73.9.
  for (int byte = 0; byte < 256; ++byte) {
    sensor_noise_.push_back(static_cast<std::int16_t>(
        std::lround((byte - 127.5) / 73.9 * 64 * static_cast<double>(look.noise_sd))));
  }
}

void SlideRenderer::render_labels(std::int64_t y0, std::int64_t x0, std::int64_t height,
                                  std::int64_t width, std::uint8_t* dst,
                                  std::int64_t stride) const {
  TissueCanvas& canvas = scratch().canvas;
  canvas.begin(anatomy_, y0, x0, height, width);
  canvas.labels(dst, stride);
}

void SlideRenderer::render(std::int64_t y0, std::int64_t x0, std::int64_t height,
                           std::int64_t width, std::uint8_t* dst, std::int64_t stride) const {
  Scratch& work = scratch();
  const std::int64_t rows = height + 2 * kApron, columns = width + 2 * kApron, step = columns * 3;
  work.canvas.begin(anatomy_, y0 - kApron, x0 - kApron, rows, columns);
  work.canvas.stain();
  work.light.resize(static_cast<std::size_t>(rows * step));
  work.blurred.resize(work.light.size());
  const int top = static_cast<int>(transmission_.size()) - 1;
  for (std::int64_t y = 0; y < rows; ++y) {
    const float *h = work.canvas.haematoxylin(y), *e = work.canvas.eosin(y);
    std::uint16_t* out = work.light.data() + y * step;
    for (std::size_t c = 0; c < 3; ++c) {
      const float hd = look_.haematoxylin_od_rgb[c] * look_.haematoxylin_strength * kDensitySteps;
      const float ed = look_.eosin_od_rgb[c] * look_.eosin_strength * kDensitySteps;
      const auto white = static_cast<std::uint32_t>(look_.white_rgb[c] * 64);
      for (std::int64_t x = 0; x < columns; ++x) {
        const int density = std::min(static_cast<int>(h[x] * hd + e[x] * ed + 0.5f), top);
        out[3 * x + static_cast<std::int64_t>(c)] = static_cast<std::uint16_t>(
            (transmission_[static_cast<std::size_t>(density)] * white) >> 16);
      }
    }
  }
  const auto side = static_cast<unsigned>(look_.blur_64ths);
  for (std::int64_t y = 0; y < rows; ++y) {
    const std::uint16_t* in = work.light.data() + y * step;
    std::uint16_t* out = work.blurred.data() + y * step;
    for (std::int64_t i = 3; i < step - 3; ++i) out[i] = tap(in + i, 3, side);
  }
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint16_t* in = work.blurred.data() + (y + kApron) * step + 3 * kApron;
    std::uint8_t* out = dst + y * stride;
    std::array<std::int16_t, 48> noise{};
    std::int64_t block = -1;
    for (std::int64_t x = 0; x < width; ++x) {
      // One Philox block is 16 bytes: noise for 16 pixels of the slide's grid, a different byte for
      // each channel.
      const std::int64_t column = x0 + x;
      if (block != column >> 4 || x == 0) {
        block = column >> 4;
        const auto words = anatomy_.draws().at(Purpose::sensor_noise, y0 + y, block);
        for (std::size_t k = 0; k < 16; ++k) {
          for (std::size_t c = 0; c < 3; ++c) {
            const std::size_t b = (k + 5 * c) & 15;
            noise[3 * k + c] = sensor_noise_[(words.v[b >> 2] >> (8 * (b & 3))) & 255];
          }
        }
      }
      const std::int16_t* drawn = noise.data() + 3 * (column & 15);
      for (std::int64_t c = 0; c < 3; ++c) {
        const int value = (tap(in + 3 * x + c, step, side) + drawn[c] + 32) >> 6;
        out[3 * x + c] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }
}

}  // namespace headrace::phantom
