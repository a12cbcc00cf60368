#include "headrace/pixels/jpeg/jpeg_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_errors.hpp"
#include "headrace/pixels/jpeg/jpeg_markers.hpp"

#define HR_TEXT_OF(x) #x
#define HR_TEXT(x) HR_TEXT_OF(x)

namespace headrace::pixels {
namespace {

constexpr long kMaxCoefficientBytes = 256L << 20;

// libjpeg-turbo's colour conversion stores past the cache into rows that are aligned like this, and
// the next reader waits for memory: a quarter of the time of a patch. So rows never begin there.
constexpr std::size_t kStreamingAlignment = 32, kHalfAlignment = 16;

bool past_the_cache(const std::byte* row) {
  return reinterpret_cast<std::uintptr_t>(row) % kStreamingAlignment == 0;
}

// One JPEG. A decompressor that is used again would keep the tables of the JPEG before and decode
// one that lacks its own by them.
class Decoder {
 public:
  explicit Decoder(JpegDamage damage) : errors_(damage) {
    errors_.attach(reinterpret_cast<j_common_ptr>(&info_));
    if (!errors_.attempt([&] { jpeg_create_decompress(&info_); })) {
      jpeg_destroy_decompress(&info_);
      fail(ErrorCode::memory, "libjpeg: {}", text());
    }
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const jpeg_decompress_struct& info() const noexcept { return info_; }
  const char* text() const noexcept { return errors_.text(); }
  void limit_memory(long bytes) { info_.mem->max_memory_to_use = bytes; }

  bool read_header(std::span<const std::byte> jpeg) {
    return errors_.attempt([&] {
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
      jpeg_read_header(&info_, TRUE);
    });
  }

  // components: 1 or 3, of the pixels that are written; the image may be grey in any case.
  bool read_pixels(int components, const JpegWindow& window, std::byte* dst,
                   std::ptrdiff_t row_step) {
    const bool read = errors_.attempt([&] {
      info_.out_color_space = components == 3 ? JCS_RGB : JCS_GRAYSCALE;
      jpeg_start_decompress(&info_);
      read_rows(static_cast<std::size_t>(components), window, dst, row_step);
      // What is wrong behind the last row: a missing end above all.
      if (errors_.damage() == JpegDamage::mended && window.y1 == info_.output_height)
        jpeg_finish_decompress(&info_);
    });
    return read && !errors_.ends_early();
  }

 private:
  // Leaves out the columns beside the window; returns the first kept column. Smooth chroma
  // upsampling looks one pixel to each side and treats the edge of the kept columns as the edge of
  // the image, so one more pixel is kept. It does not work on very few columns either, so at least
  // kFewest are kept.
  std::int64_t crop(const JpegWindow& window) {
    constexpr std::int64_t kFewest = 32;
    const std::int64_t columns = info_.image_width;
    const std::int64_t end = std::min(std::max(window.x1 + 1, window.x0 - 1 + kFewest), columns);
    const std::int64_t begin = std::max<std::int64_t>(std::min(window.x0 - 1, end - kFewest), 0);
    if (begin == 0 && end == columns) return 0;
    auto first = static_cast<JDIMENSION>(begin);
    auto width = static_cast<JDIMENSION>(end - begin);
    jpeg_crop_scanline(&info_, &first, &width);
    return first;
  }

  // Memory of libjpeg's, which also goes when an error jumps.
  std::byte* new_row(std::size_t bytes) {
    auto* row = static_cast<std::byte*>(info_.mem->alloc_small(
        reinterpret_cast<j_common_ptr>(&info_), JPOOL_IMAGE, bytes + kHalfAlignment));
    return row + (past_the_cache(row) ? kHalfAlignment : 0);
  }

  void read_rows(std::size_t pixel, const JpegWindow& window, std::byte* dst,
                 std::ptrdiff_t row_step) {
    std::byte* row = new_row(info_.image_width * pixel);
    const auto skipped = static_cast<std::size_t>(window.x0 - crop(window)) * pixel;
    const auto bytes = static_cast<std::size_t>(window.x1 - window.x0) * pixel;
    const bool whole = info_.output_width * pixel == bytes;
    if (window.y0 > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window.y0));
    for (std::int64_t y = window.y0; y < window.y1; ++y, dst += row_step) {
      const bool straight = whole && !past_the_cache(dst);
      auto* line = reinterpret_cast<JSAMPROW>(straight ? dst : row);
      jpeg_read_scanlines(&info_, &line, 1);
      if (!straight) std::memcpy(dst, row + skipped, bytes);
    }
  }

  JpegErrors errors_;
  jpeg_decompress_struct info_{};
};

// Reads the header of a JPEG that must have this shape.
void read_expected_header(Decoder& decoder, std::span<const std::byte> jpeg,
                          std::string_view origin, const JpegShape& expect) {
  if (!decoder.read_header(jpeg)) fail(ErrorCode::corrupt, "{}: {}", origin, decoder.text());
  const auto& info = decoder.info();
  if (info.image_height == expect.height && info.image_width == expect.width &&
      info.num_components == expect.components && info.data_precision == 8) {
    return;
  }
  fail(ErrorCode::corrupt,
       "{}: the image is {}x{} with {} components of {} bits, expected {}x{} with {} of 8", origin,
       info.image_height, info.image_width, info.num_components, info.data_precision, expect.height,
       expect.width, expect.components);
}

}  // namespace

std::string jpeg_library() { return "libjpeg-turbo " HR_TEXT(LIBJPEG_TURBO_VERSION); }

JpegInfo read_jpeg_info(std::span<const std::byte> jpeg, std::string_view origin) {
  Decoder decoder(JpegDamage::mended);
  if (!decoder.read_header(jpeg)) {
    // "Unsupported JPEG data precision 12", "Unsupported JPEG process".
    const bool other = std::string_view(decoder.text()).starts_with("Unsupported");
    fail(other ? ErrorCode::unsupported : ErrorCode::corrupt, "{}: is not a readable JPEG: {}",
         origin, decoder.text());
  }
  const auto& header = decoder.info();
  JpegInfo info;
  info.height = header.image_height;
  info.width = header.image_width;
  info.components = header.num_components;
  const double unit = header.density_unit == 1 ? 25400.0 : header.density_unit == 2 ? 10000.0 : 0.0;
  if (header.saw_JFIF_marker && unit > 0 && header.X_density && header.Y_density) {
    info.mpp_y = unit / header.Y_density;
    info.mpp_x = unit / header.X_density;
  }
  return info;
}

void decode_jpeg_rgb(std::span<const std::byte> jpeg, std::string_view origin, std::int64_t rows,
                     std::int64_t columns, std::uint8_t* dst, std::int64_t row_stride_bytes) {
  decode_jpeg_rgb(jpeg, origin, JpegWindow{0, rows, 0, columns}, dst, row_stride_bytes);
}

void decode_jpeg_rgb(std::span<const std::byte> jpeg, std::string_view origin,
                     const JpegWindow& window, std::uint8_t* dst, std::int64_t row_stride_bytes) {
  Decoder decoder(JpegDamage::mended);
  decoder.limit_memory(kMaxCoefficientBytes);
  const auto undecodable = [&] {
    fail(ErrorCode::corrupt, "{}: the JPEG cannot be decoded: {}", origin, decoder.text());
  };
  if (!decoder.read_header(jpeg)) undecodable();
  const auto& info = decoder.info();
  if (info.num_components != 1 && info.num_components != 3) {
    // CMYK: programs write it as it is or inverted, and not all files say which.
    fail(ErrorCode::unsupported,
         "{}: JPEG with {} components{}; grey and colours of three are read: save it as RGB",
         origin, info.num_components, info.num_components == 4 ? " (CMYK)" : "");
  }
  if (info.image_width < window.x1 || info.image_height < window.y1) {
    fail(ErrorCode::corrupt, "{}: the JPEG has {}x{} pixels, {}x{} expected", origin,
         info.image_width, info.image_height, window.x1, window.y1);
  }
  if (!decoder.read_pixels(3, window, reinterpret_cast<std::byte*>(dst), row_stride_bytes))
    undecodable();
}

void decode_jpeg_window(std::span<const std::byte> jpeg, std::string_view origin,
                        const JpegShape& expect, const JpegWindow& window, std::byte* dst,
                        std::ptrdiff_t row_step) {
  Decoder decoder(JpegDamage::refused);
  read_expected_header(decoder, jpeg, origin, expect);
  if (!decoder.read_pixels(expect.components, window, dst, row_step))
    fail(ErrorCode::corrupt, "{}: {}", origin, decoder.text());
}

void check_jpeg(std::span<const std::byte> jpeg, std::string_view origin, const JpegShape& expect) {
  Decoder decoder(JpegDamage::refused);
  read_expected_header(decoder, jpeg, origin, expect);
  if (!has_jpeg_end(jpeg))
    fail(ErrorCode::corrupt, "{}: the JPEG has no end: it was cut off", origin);
}

}  // namespace headrace::pixels
