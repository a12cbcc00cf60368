#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headrace/pixels/jpeg/jpeg_shape.hpp"

/// Pixels as baseline JPEGs by libjpeg-turbo (YCbCr or grey, accurate integer DCT). Safe from any
/// thread; the same pixels give the same bytes.
namespace headrace::pixels {

/// How chroma is stored.
enum class JpegSubsampling { s444, s422, s420 };

/// Encodes interleaved rows as a JPEG with all its tables into `out`. quality: 0 (as 1) to 100.
/// Errors: memory, named by `origin`.
void encode_jpeg(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape, int quality,
                 JpegSubsampling subsampling, std::string_view origin, std::vector<std::byte>& out);

/// Encodes 8-bit RGB with 2x2 chroma subsampling, without its tables (an abbreviated stream).
/// Errors: usage (quality outside 1 to 100, no pixels).
std::vector<std::byte> encode_jpeg_tile(const std::uint8_t* rgb, std::int64_t height,
                                        std::int64_t width, std::int64_t row_stride_bytes,
                                        int quality);

/// The tables that encode_jpeg_tile left out, as a stream of their own (TIFF tag JPEGTables).
std::vector<std::byte> encode_jpeg_tables(int quality);

}  // namespace headrace::pixels
