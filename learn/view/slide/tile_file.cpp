#include "learn/view/slide/tile_file.hpp"

#include <array>
#include <cstdint>
#include <span>

#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/picture/png_codec.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {
namespace {

constexpr int kJpegQuality = 85;
constexpr std::uint8_t kOpaque = 255;

using Rgba = std::array<std::uint8_t, 4>;
using Palette = std::array<Rgba, 256>;

static_assert(kIgnoreLabel == result::kNotPredicted);

Palette class_palette() {
  Palette palette{};
  for (std::size_t value = 1; value < kIgnoreLabel; ++value) {
    const pixels::Rgb colour = pixels::class_colour(value);
    palette[value] = {colour[0], colour[1], colour[2], kOpaque};
  }
  return palette;
}

std::shared_ptr<const Bytes> png(const pixels::Image8& values, const Palette& palette) {
  pixels::Image8 rgba(values.height, values.width, 4);
  std::uint8_t* out = rgba.pixels.data();
  for (const std::uint8_t value : values.pixels) {
    for (const std::uint8_t channel : palette[value]) *out++ = channel;
  }
  const auto file = imaging::encode_png_bytes(rgba);
  const auto bytes = std::as_bytes(std::span(file));
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

}  // namespace

std::shared_ptr<const Bytes> jpeg_tile(const pixels::Image8& rgb) {
  auto bytes = std::make_shared<Bytes>();
  pixels::encode_jpeg(reinterpret_cast<const std::byte*>(rgb.pixels.data()), 3 * rgb.width,
                      {rgb.height, rgb.width, 3}, kJpegQuality, pixels::JpegSubsampling::s420,
                      "a tile", *bytes);
  return bytes;
}

std::shared_ptr<const Bytes> class_tile(const pixels::Image8& values) {
  static const Palette palette = class_palette();
  return png(values, palette);
}

std::shared_ptr<const Bytes> probability_tile(const pixels::Image8& values, pixels::Rgb colour) {
  Palette palette{};
  for (std::size_t value = 1; value < palette.size(); ++value)
    palette[value] = {colour[0], colour[1], colour[2], static_cast<std::uint8_t>(value)};
  return png(values, palette);
}

}  // namespace headrace::view
