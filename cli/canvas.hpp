#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "headrace/pixels/image.hpp"

namespace headrace::cli {

using Rgb = std::array<std::uint8_t, 3>;

/// An RGB picture to put patches and text on.
class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width, Rgb background);

  /// Text in one line, cut after `width` pixels; other bytes than printable ASCII show as '?'.
  void text(std::int64_t y, std::int64_t x, const std::string& line, Rgb colour,
            std::int64_t width);
  void fill(std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width, Rgb colour);
  /// A patch, shrunk by averaging blocks of `shrink` × `shrink`, or each pixel `enlarge` times as
  /// large.
  void patch(std::int64_t y, std::int64_t x, const pixels::Image8& image, int shrink, int enlarge);
  const pixels::Image8& image() const noexcept { return image_; }

 private:
  pixels::Image8 image_;
};

}  // namespace headrace::cli
