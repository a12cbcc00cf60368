#include "cli/canvas.hpp"

#include <algorithm>

#include "cli/font_table.hpp"

namespace headrace::cli {

Canvas::Canvas(std::int64_t height, std::int64_t width, Rgb background) : image_(height, width, 3) {
  fill(0, 0, height, width, background);
}

void Canvas::fill(std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width,
                  Rgb colour) {
  for (std::int64_t row = y; row < y + height; ++row) {
    for (std::int64_t column = x; column < x + width; ++column) {
      std::copy(colour.begin(), colour.end(), image_.row(row) + 3 * column);
    }
  }
}

void Canvas::text(std::int64_t y, std::int64_t x, const std::string& line, Rgb colour,
                  std::int64_t width) {
  const std::int64_t end = std::min(x + width, image_.width);
  for (const char letter : line) {
    if (x + kGlyphWidth > end) return;
    const char* glyph = kGlyphs[(letter >= 32 && letter < 127 ? letter : '?') - 32];
    for (int i = 0; i < kGlyphWidth * kGlyphHeight; ++i) {
      const int cover = glyph[i] <= '9' ? glyph[i] - '0' : glyph[i] - 'a' + 10;
      std::uint8_t* pixel = image_.row(y + i / kGlyphWidth) + 3 * (x + i % kGlyphWidth);
      for (std::size_t c = 0; c < 3; ++c) {
        pixel[c] = static_cast<std::uint8_t>((pixel[c] * (15 - cover) + colour[c] * cover) / 15);
      }
    }
    x += kGlyphWidth;
  }
}

void Canvas::patch(std::int64_t y, std::int64_t x, const pixels::Image8& image, int shrink,
                   int enlarge) {
  for (std::int64_t row = 0; row < image.height / shrink; ++row) {
    for (std::int64_t column = 0; column < image.width / shrink; ++column) {
      Rgb mean{};
      for (std::size_t c = 0; c < 3; ++c) {
        int sum = 0;
        for (int i = 0; i < shrink * shrink; ++i) {
          sum += image.row(
              row * shrink +
              i / shrink)[3 * (column * shrink + i % shrink) + static_cast<std::int64_t>(c)];
        }
        mean[c] = static_cast<std::uint8_t>(sum / (shrink * shrink));
      }
      fill(y + row * enlarge, x + column * enlarge, enlarge, enlarge, mean);
    }
  }
}

}  // namespace headrace::cli
