#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::zarr {

/// A window of an image: rows [y0, y1) and columns [x0, x1).
struct JpegWindow {
  std::int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
};

/// What a chunk requires of its JPEG.
struct JpegShape {
  std::int64_t height = 0, width = 0;
  int components = 0;  ///< 1: grey, 3: RGB
};

/// Decodes a window of a JPEG by libjpeg-turbo into interleaved rows.
///
/// out     dst   pixel (y0, x0); pixels are `components` bytes apart, rows `row_step` bytes; may be
/// host memory only
/// errors  corrupt: libjpeg's error or its first warning about damaged data; another size, depth or
///         number of components
/// cost    entropy decoding up to the last row, the rest for the rows and columns of the window
///         alone
/// The pixels are those of a decode of the whole image, bit for bit (tests/zarr/jpeg_test.cpp).
void decode_jpeg(std::span<const std::byte> jpeg, const JpegShape& expect, const JpegWindow& window,
                 std::byte* dst, std::ptrdiff_t row_step);

/// Checks the header and the end only: a GPU's decoder may fill a missing part with grey. Errors:
/// corrupt (not a JPEG; another size, depth or number of components; no end).
void check_jpeg(std::span<const std::byte> jpeg, const JpegShape& expect);

/// How chroma is stored.
enum class JpegSubsampling { s444, s422, s420 };

/// Encodes interleaved rows as a baseline JPEG (YCbCr, or grey), accurate integer DCT.
void encode_jpeg(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape, int quality,
                 JpegSubsampling subsampling, std::vector<std::byte>& out);

}  // namespace headrace::zarr
