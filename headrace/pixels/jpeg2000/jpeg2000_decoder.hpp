#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_shape.hpp"

/// JPEG 2000 codestreams and JP2 files as pixels, by OpenJPEG. The caller gives the expected
/// picture, and anything else is refused before pixels are allocated. A stream that ends early is an
/// error; each begins with `origin`. Safe from any thread; the result depends on the data alone. A
/// build without OpenJPEG has no_openjpeg.cpp, which refuses (unsupported).
namespace headrace::pixels {

struct Jpeg2000Image {
  std::int64_t height = 0, width = 0;
  int precision = 0;  ///< bits of a value
  bool is_signed = false;
  std::vector<std::int32_t> pixels;  ///< (y, x)
};

/// Decodes a picture of one component. Errors: corrupt, unsupported.
Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t> bytes, std::int64_t height,
                              std::int64_t width, const std::string& origin);

/// Decodes a picture of one or three components of 8 bits into dst: (y, x, c), c innermost, rows
/// `row_stride_bytes` apart. ycbcr: the components are luma and chroma (BT.601, full range, as in
/// JFIF), which become RGB as libjpeg and OpenSlide convert them; chroma of fewer pixels is
/// repeated. A JP2 file that states sYCC is converted in any case. Errors: corrupt, unsupported.
void decode_jpeg2000_pixels(std::span<const std::uint8_t> bytes, std::int64_t height,
                            std::int64_t width, int samples, bool ycbcr, std::uint8_t* dst,
                            std::int64_t row_stride_bytes, const std::string& origin);

/// Decodes a window of a picture of known shape into interleaved rows, for chunks of stores: colours
/// are what the bytes state (a JP2 file of sYCC is converted as above, all else is RGB or grey).
///
/// out     dst   pixel (y0, x0); pixels are `components` bytes apart, rows `row_step` bytes
/// errors  corrupt: also another size, depth or number of components, or more tiles inside than a
///         picture of that size can need
/// cost    only code-blocks under the window are decoded: a window of a quarter takes 0.8 of the
///         whole, one of a sixteenth 0.55 (tiles of 256² by Kakadu)
/// The pixels are those of a decode of the whole picture, bit for bit
/// (tests/pixels/jpeg2000_test.cpp).
void decode_jpeg2000_window(std::span<const std::byte> bytes, std::string_view origin,
                            const JpegShape& expect, const JpegWindow& window, std::byte* dst,
                            std::ptrdiff_t row_step);

}  // namespace headrace::pixels
