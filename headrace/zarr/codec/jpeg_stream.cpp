#include "headrace/zarr/codec/jpeg_stream.hpp"

#include <cstdio>  // jpeglib.h needs it before itself

#include <jpeglib.h>

#include <jerror.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/scratch.hpp"

namespace headrace::zarr {
namespace {

// libjpeg's error handler, first member as its convention asks: errors jump out, warnings about
// damaged data too.
struct ErrorHandler {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> text;
};

[[noreturn]] void jump_out(j_common_ptr info) {
  auto* handler = reinterpret_cast<ErrorHandler*>(info->err);
  info->err->format_message(info, handler->text.data());
  std::longjmp(handler->jump, 1);
}

// Level -1 is a warning. All warnings but these two mean that pixels are guessed.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const int code = info->err->msg_code;
  if (code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;
  jump_out(info);
}

void install(ErrorHandler& handler, jpeg_error_mgr*& slot) {
  slot = jpeg_std_error(&handler.base);
  handler.base.error_exit = jump_out;
  handler.base.emit_message = on_message;
  handler.base.output_message = [](j_common_ptr) {};
}

// libjpeg-turbo's colour conversion stores past the cache into rows that are aligned like this, and
// the next reader waits for memory: a quarter of the time of a patch. So rows never begin there.
constexpr std::size_t kStreamingAlignment = 32, kHalfAlignment = 16;

bool past_the_cache(const std::byte* row) {
  return reinterpret_cast<std::uintptr_t>(row) % kStreamingAlignment == 0;
}

// One decompressor for each thread: its permanent pools are made once.
class Decoder {
 public:
  Decoder() {
    install(handler_, info_.err);
    if (setjmp(handler_.jump) == 0) {
      jpeg_create_decompress(&info_);
    } else {
      fail(ErrorCode::memory, "libjpeg: {}", handler_.text.data());
    }
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }

  // Null when all went well, else what went wrong.
  const char* decode(std::span<const std::byte> jpeg, const JpegShape& expect,
                     const JpegWindow& window, std::byte* dst, std::ptrdiff_t row_step,
                     std::byte* row) {
    if (setjmp(handler_.jump) != 0) {
      jpeg_abort_decompress(&info_);
      return handler_.text.data();
    }
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&info_, TRUE);
    if (const char* problem = check(expect); problem != nullptr) {
      jpeg_abort_decompress(&info_);
      return problem;
    }
    info_.out_color_space = expect.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_start_decompress(&info_);
    read_rows(expect, window, dst, row_step, row);
    jpeg_abort_decompress(&info_);
    return nullptr;
  }

  // Reads the header only; null when it is as expected.
  const char* check_header(std::span<const std::byte> jpeg, const JpegShape& expect) {
    if (setjmp(handler_.jump) != 0) {
      jpeg_abort_decompress(&info_);
      return handler_.text.data();
    }
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&info_, TRUE);
    const char* problem = check(expect);
    jpeg_abort_decompress(&info_);
    return problem;
  }

 private:
  const char* check(const JpegShape& expect) {
    const bool size = info_.image_height == expect.height && info_.image_width == expect.width;
    if (size && info_.num_components == expect.components && info_.data_precision == 8) {
      return nullptr;
    }
    std::snprintf(
        handler_.text.data(), handler_.text.size(),
        "the image is %ux%u with %d components of %d bits, expected %lldx%lld with %d of 8",
        info_.image_height, info_.image_width, info_.num_components, info_.data_precision,
        static_cast<long long>(expect.height), static_cast<long long>(expect.width),
        expect.components);
    return handler_.text.data();
  }

  // Leaves out the columns beside the window; returns the first kept column. Smooth chroma
  // upsampling looks one pixel to each side and treats the edge of the kept columns as the edge of
  // the image, so one more pixel is kept. It does not work on very few columns either, so at least
  // kFewest are kept.
  std::int64_t crop(const JpegShape& expect, const JpegWindow& window) {
    constexpr std::int64_t kFewest = 32;
    const std::int64_t end =
        std::min(std::max(window.x1 + 1, window.x0 - 1 + kFewest), expect.width);
    const std::int64_t begin = std::max<std::int64_t>(std::min(window.x0 - 1, end - kFewest), 0);
    if (begin == 0 && end == expect.width) return 0;
    auto first = static_cast<JDIMENSION>(begin);
    auto width = static_cast<JDIMENSION>(end - begin);
    jpeg_crop_scanline(&info_, &first, &width);
    return first;
  }

  void read_rows(const JpegShape& expect, const JpegWindow& window, std::byte* dst,
                 std::ptrdiff_t row_step, std::byte* row) {
    const auto pixel = static_cast<std::size_t>(expect.components);
    const auto skipped = static_cast<std::size_t>(window.x0 - crop(expect, window)) * pixel;
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

  ErrorHandler handler_{};
  jpeg_decompress_struct info_{};
};

Decoder& decoder() {
  thread_local Decoder own;
  return own;
}

class Encoder {
 public:
  Encoder() {
    install(handler_, info_.err);
    if (setjmp(handler_.jump) == 0) {
      jpeg_create_compress(&info_);
    } else {
      fail(ErrorCode::memory, "libjpeg: {}", handler_.text.data());
    }
  }
  ~Encoder() {
    jpeg_destroy_compress(&info_);
    std::free(memory_);
  }

  // Null when all went well, with the JPEG in memory(); else what went wrong.
  const char* encode(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape,
                     int quality, JpegSubsampling subsampling) {
    if (setjmp(handler_.jump) != 0) {
      jpeg_abort_compress(&info_);
      return handler_.text.data();
    }
    std::free(memory_);
    memory_ = nullptr;
    size_ = 0;
    jpeg_mem_dest(&info_, &memory_, &size_);
    info_.image_height = static_cast<JDIMENSION>(shape.height);
    info_.image_width = static_cast<JDIMENSION>(shape.width);
    info_.input_components = shape.components;
    info_.in_color_space = shape.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    if (shape.components == 3) {
      info_.comp_info[0].h_samp_factor = subsampling == JpegSubsampling::s444 ? 1 : 2;
      info_.comp_info[0].v_samp_factor = subsampling == JpegSubsampling::s420 ? 2 : 1;
    }
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      auto* line = const_cast<JSAMPLE*>(reinterpret_cast<const JSAMPLE*>(
          src + static_cast<std::ptrdiff_t>(info_.next_scanline) * row_step));
      jpeg_write_scanlines(&info_, &line, 1);
    }
    jpeg_finish_compress(&info_);
    return nullptr;
  }

  std::span<const std::byte> memory() const {
    return {reinterpret_cast<const std::byte*>(memory_), size_};
  }

 private:
  ErrorHandler handler_{};
  jpeg_compress_struct info_{};
  unsigned char* memory_ = nullptr;
  unsigned long size_ = 0;
};

// The last marker, after which some writers leave zeros.
bool has_end(std::span<const std::byte> jpeg) {
  while (!jpeg.empty() && jpeg.back() == std::byte{0}) jpeg = jpeg.first(jpeg.size() - 1);
  return jpeg.size() >= 2 && jpeg[jpeg.size() - 2] == std::byte{0xff} &&
         jpeg.back() == std::byte{0xd9};
}

}  // namespace

void check_jpeg(std::span<const std::byte> jpeg, const JpegShape& expect) {
  const char* problem = decoder().check_header(jpeg, expect);
  if (problem == nullptr && !has_end(jpeg)) problem = "the JPEG has no end: it was cut off";
  if (problem != nullptr) fail(ErrorCode::corrupt, "codec imagecodecs_jpeg: {}", problem);
}

void decode_jpeg(std::span<const std::byte> jpeg, const JpegShape& expect, const JpegWindow& window,
                 std::byte* dst, std::ptrdiff_t row_step) {
  Scratch scratch(static_cast<std::size_t>(expect.width * expect.components) + kHalfAlignment);
  std::byte* row = scratch.data() + (past_the_cache(scratch.data()) ? kHalfAlignment : 0);
  const char* problem = decoder().decode(jpeg, expect, window, dst, row_step, row);
  if (problem != nullptr) fail(ErrorCode::corrupt, "codec imagecodecs_jpeg: {}", problem);
}

void encode_jpeg(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape, int quality,
                 JpegSubsampling subsampling, std::vector<std::byte>& out) {
  thread_local Encoder encoder;
  const char* problem = encoder.encode(src, row_step, shape, quality, subsampling);
  if (problem != nullptr) fail(ErrorCode::memory, "codec imagecodecs_jpeg: {}", problem);
  out.assign(encoder.memory().begin(), encoder.memory().end());
}

}  // namespace headrace::zarr
