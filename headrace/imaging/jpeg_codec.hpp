#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::imaging {

struct JpegInfo {
  std::int64_t height = 0, width = 0;
  int components = 0;                  ///< as stored: 1, 3 or 4
  std::optional<double> mpp_y, mpp_x;  ///< from the JFIF density, when it has a unit
};

/// Reads the header alone. `origin` names the data in errors. Errors: malformed.
JpegInfo read_jpeg_info(std::span<const std::byte> jpeg, const std::string& origin);

/// Decodes a JPEG to 8-bit RGB with libjpeg-turbo's defaults (islow DCT, fancy upsampling), grey
/// repeated.
///
/// in      rows, columns  size of the part at the top left that is written (the image may be
///                        larger)
/// errors  corrupt (can't be decoded or ends early), unsupported (CMYK, 12 bit, smaller than asked
///         for)
/// threads safe from any thread
void decode_jpeg_rgb(std::span<const std::byte> jpeg, const std::string& origin, std::int64_t rows,
                     std::int64_t columns, std::uint8_t* dst, std::int64_t row_stride_bytes);

/// Encodes 8-bit RGB as baseline JPEG, YCbCr with 2x2 chroma subsampling, without its tables (an
/// abbreviated stream); the same pixels give the same bytes. Errors: usage (quality outside 1 to
/// 100, no pixels).
std::vector<std::byte> encode_jpeg_tile(const std::uint8_t* rgb, std::int64_t height,
                                        std::int64_t width, std::int64_t row_stride_bytes,
                                        int quality);

/// The tables that encode_jpeg_tile left out, as a stream of their own (TIFF tag JPEGTables).
std::vector<std::byte> encode_jpeg_tables(int quality);

}  // namespace headrace::imaging
