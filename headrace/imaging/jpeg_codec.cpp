#include "headrace/imaging/jpeg_codec.hpp"

#include <cstdio>
// jpeglib.h needs cstdio before it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

/// libjpeg's error exit leaves by longjmp, so no object with a destructor lives in a function that
/// sets the jump.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  bool ends_early = false;
  char message[JMSG_LENGTH_MAX] = {};
};

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void on_message(j_common_ptr info, int level) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
    if (!errors->ends_early) info->err->format_message(info, errors->message);
    errors->ends_early = true;
  }
}

struct Decoder {
  jpeg_decompress_struct info{};
  JpegErrors errors;

  Decoder() {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
    errors.manager.emit_message = on_message;
    jpeg_create_decompress(&info);
    info.mem->max_memory_to_use = 256L << 20;
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
};

bool read_header(Decoder& decoder, const unsigned char* bytes, unsigned long size) {
  if (setjmp(decoder.errors.jump)) return false;
  jpeg_mem_src(&decoder.info, bytes, size);
  jpeg_read_header(&decoder.info, TRUE);
  return true;
}

/// Whole rows go straight to `dst` where the image is not wider than asked for; else by `row`.
bool read_rows(Decoder& decoder, std::int64_t rows, std::int64_t columns, std::uint8_t* dst,
               std::int64_t stride, std::uint8_t* row) {
  if (setjmp(decoder.errors.jump)) return false;
  decoder.info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&decoder.info);
  const bool direct = decoder.info.output_width == std::uint64_t(columns);
  while (std::int64_t(decoder.info.output_scanline) < rows) {
    const std::int64_t y = decoder.info.output_scanline;
    JSAMPROW target = direct ? dst + y * stride : row;
    jpeg_read_scanlines(&decoder.info, &target, 1);
    if (!direct) std::memcpy(dst + y * stride, row, std::size_t(columns * 3));
  }
  if (decoder.info.output_scanline == decoder.info.output_height) {
    jpeg_finish_decompress(&decoder.info);
  } else {
    jpeg_abort_decompress(&decoder.info);
  }
  return true;
}

struct Encoder {
  jpeg_compress_struct info{};
  JpegErrors errors;
  unsigned char* out = nullptr;
  unsigned long out_size = 0;

  Encoder() {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
    errors.manager.emit_message = on_message;
    jpeg_create_compress(&info);
  }
  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(out);
  }
};

void configure(Encoder& encoder, std::int64_t height, std::int64_t width, int quality) {
  jpeg_mem_dest(&encoder.info, &encoder.out, &encoder.out_size);
  encoder.info.image_width = JDIMENSION(width);
  encoder.info.image_height = JDIMENSION(height);
  encoder.info.input_components = 3;
  encoder.info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder.info);
  jpeg_set_quality(&encoder.info, quality, TRUE);
  encoder.info.write_JFIF_header = FALSE;
}

bool encode(Encoder& encoder, const std::uint8_t* rgb, std::int64_t height, std::int64_t width,
            std::int64_t stride, int quality) {
  if (setjmp(encoder.errors.jump)) return false;
  configure(encoder, height, width, quality);
  jpeg_suppress_tables(&encoder.info, TRUE);
  jpeg_start_compress(&encoder.info, FALSE);
  while (encoder.info.next_scanline < encoder.info.image_height) {
    auto* row = const_cast<std::uint8_t*>(rgb) + encoder.info.next_scanline * stride;
    jpeg_write_scanlines(&encoder.info, &row, 1);
  }
  jpeg_finish_compress(&encoder.info);
  return true;
}

bool encode_tables(Encoder& encoder, int quality) {
  if (setjmp(encoder.errors.jump)) return false;
  configure(encoder, 16, 16, quality);
  jpeg_write_tables(&encoder.info);
  return true;
}

void check_quality(int quality) {
  if (quality < 1 || quality > 100)
    fail(ErrorCode::usage, "JPEG quality {}; 1 to 100 are possible", quality);
}

}  // namespace

JpegInfo read_jpeg_info(std::span<const std::byte> jpeg, const std::string& origin) {
  Decoder decoder;
  if (!read_header(decoder, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size())) {
    fail(ErrorCode::malformed, "{}: is not a readable JPEG: {}", origin, decoder.errors.message);
  }
  JpegInfo info;
  info.height = decoder.info.image_height;
  info.width = decoder.info.image_width;
  info.components = decoder.info.num_components;
  const double unit = decoder.info.density_unit == 1   ? 25400.0
                      : decoder.info.density_unit == 2 ? 10000.0
                                                       : 0.0;
  if (decoder.info.saw_JFIF_marker && unit > 0 && decoder.info.X_density &&
      decoder.info.Y_density) {
    info.mpp_y = unit / decoder.info.Y_density;
    info.mpp_x = unit / decoder.info.X_density;
  }
  return info;
}

void decode_jpeg_rgb(std::span<const std::byte> jpeg, const std::string& origin, std::int64_t rows,
                     std::int64_t columns, std::uint8_t* dst, std::int64_t row_stride_bytes) {
  Decoder decoder;
  if (!read_header(decoder, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size())) {
    fail(ErrorCode::corrupt, "{}: the JPEG cannot be decoded: {}", origin, decoder.errors.message);
  }
  const auto& info = decoder.info;
  if (info.num_components != 1 && info.num_components != 3) {
    fail(ErrorCode::unsupported, "{}: JPEG with {} components; grey and colour are read", origin,
         info.num_components);
  }
  if (std::int64_t(info.image_width) < columns || std::int64_t(info.image_height) < rows) {
    fail(ErrorCode::corrupt, "{}: the JPEG has {}x{} pixels, {}x{} expected", origin,
         info.image_width, info.image_height, columns, rows);
  }
  std::vector<std::uint8_t> row;
  if (std::int64_t(info.image_width) != columns) row.resize(std::size_t(info.image_width) * 3);
  if (!read_rows(decoder, rows, columns, dst, row_stride_bytes, row.data()) ||
      decoder.errors.ends_early) {
    fail(ErrorCode::corrupt, "{}: the JPEG cannot be decoded: {}", origin, decoder.errors.message);
  }
}

std::vector<std::byte> encode_jpeg_tile(const std::uint8_t* rgb, std::int64_t height,
                                        std::int64_t width, std::int64_t row_stride_bytes,
                                        int quality) {
  check_quality(quality);
  Encoder encoder;
  if (!encode(encoder, rgb, height, width, row_stride_bytes, quality)) {
    fail(ErrorCode::usage, "encoding a JPEG of {}x{}: {}", width, height, encoder.errors.message);
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(encoder.out);
  return {bytes, bytes + encoder.out_size};
}

std::vector<std::byte> encode_jpeg_tables(int quality) {
  check_quality(quality);
  Encoder encoder;
  if (!encode_tables(encoder, quality)) {
    fail(ErrorCode::internal, "writing JPEG tables: {}", encoder.errors.message);
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(encoder.out);
  return {bytes, bytes + encoder.out_size};
}

}  // namespace headrace::imaging
