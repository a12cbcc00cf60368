#pragma once
#include <cstdint>

namespace headrace::pixels {

/// Size and kind of the pixels of a JPEG.
struct JpegShape {
  std::int64_t height = 0, width = 0;
  int components = 0;  ///< 1: grey, 3: RGB
};

}  // namespace headrace::pixels
