#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::imaging {

// JPEG 2000 codestreams and JP2 files by OpenJPEG. The caller gives the expected picture, and
// anything else is refused before pixels are allocated. A stream that ends early is an error.

struct Jpeg2000Image {
  std::int64_t height = 0, width = 0;
  int precision = 0;  ///< bits of a value
  bool is_signed = false;
  std::vector<std::int32_t> pixels;  ///< (y, x)
};

/// Decodes a picture of one component. Errors: corrupt, unsupported; each begins with `origin`.
Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t> bytes, std::int64_t height,
                              std::int64_t width, const std::string& origin);

/// Decodes a picture of one or three components of 8 bits into dst: (y, x, c), c innermost, rows
/// `row_stride_bytes` apart. ycbcr: the components are luma and chroma (BT.601, full range, as in
/// JFIF), which become RGB as libjpeg and OpenSlide convert them; chroma of fewer pixels is
/// repeated. A JP2 file that states sYCC is converted in any case. Errors: corrupt, unsupported;
/// each begins with `origin`.
void decode_jpeg2000_pixels(std::span<const std::uint8_t> bytes, std::int64_t height,
                            std::int64_t width, int samples, bool ycbcr, std::uint8_t* dst,
                            std::int64_t row_stride_bytes, const std::string& origin);

}  // namespace headrace::imaging
