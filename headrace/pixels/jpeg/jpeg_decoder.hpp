#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headrace/pixels/jpeg/jpeg_shape.hpp"

/// JPEGs as pixels, by libjpeg-turbo's defaults (accurate integer DCT, smooth chroma upsampling).
/// `origin` names the data in errors. Safe from any thread; the result depends on the data alone.
namespace headrace::pixels {

/// "libjpeg-turbo 2.1.5": decoders and their versions may differ in pixels.
std::string jpeg_library();

struct JpegInfo {
  std::int64_t height = 0, width = 0;
  int components = 0;                  ///< as stored: 1, 3 or 4
  std::optional<double> mpp_y, mpp_x;  ///< from the JFIF density, when it has a unit
};

/// Reads the header alone. Errors: corrupt.
JpegInfo read_jpeg_info(std::span<const std::byte> jpeg, std::string_view origin);

/// A window of an image: rows [y0, y1) and columns [x0, x1).
struct JpegWindow {
  std::int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
};

/// Decodes a JPEG of somebody's file to 8-bit RGB, grey repeated.
///
/// in      rows, columns  size of the part at the top left that is written (the image may be
///                        larger)
/// errors  corrupt (can't be decoded, ends early, smaller than asked for), unsupported (neither
///         grey nor of three components). Other damage is mended as libjpeg does it.
/// cost    progressive images need memory for all coefficients: 256 MiB at most, else corrupt
void decode_jpeg_rgb(std::span<const std::byte> jpeg, std::string_view origin, std::int64_t rows,
                     std::int64_t columns, std::uint8_t* dst, std::int64_t row_stride_bytes);
/// The same of a window; dst is its pixel (y0, x0), and the pixels are those of the whole image.
/// Damage behind the window's last row is not found.
void decode_jpeg_rgb(std::span<const std::byte> jpeg, std::string_view origin,
                     const JpegWindow& window, std::uint8_t* dst, std::int64_t row_stride_bytes);

/// Decodes a window of a JPEG of known shape into interleaved rows.
///
/// out     dst   pixel (y0, x0); pixels are `components` bytes apart, rows `row_step` bytes; may be
///         host memory only
/// errors  corrupt: libjpeg's error or its first warning about damaged data; another size, depth or
///         number of components
/// cost    entropy decoding up to the last row, the rest for the rows and columns of the window
///         alone
/// The pixels are those of a decode of the whole image, bit for bit (tests/pixels/jpeg_test.cpp).
void decode_jpeg_window(std::span<const std::byte> jpeg, std::string_view origin,
                        const JpegShape& expect, const JpegWindow& window, std::byte* dst,
                        std::ptrdiff_t row_step);

/// Checks the header and the end only: a GPU's decoder may fill a missing part with grey. Errors:
/// corrupt (not a JPEG; another size, depth or number of components; no end).
void check_jpeg(std::span<const std::byte> jpeg, std::string_view origin, const JpegShape& expect);

}  // namespace headrace::pixels
