#include "headrace/pixels/jpeg/jpeg_encoder.hpp"

#include <new>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_errors.hpp"
// jerror.h needs jpeglib.h before itself.
#include <jerror.h>

namespace headrace::pixels {
namespace {

// Where libjpeg writes to. Its own destination in memory leaves a pointer to freed memory behind
// when it cannot grow.
struct Destination {
  jpeg_destination_mgr manager{};  // first: libjpeg hands back its address
  std::vector<std::byte>* out = nullptr;
};

Destination& destination_of(j_compress_ptr info) {
  return *reinterpret_cast<Destination*>(info->dest);
}

// Room for libjpeg from `used` up to `size`.
boolean make_room(j_compress_ptr info, std::size_t used, std::size_t size) {
  Destination& to = destination_of(info);
  bool grown = false;
  try {
    to.out->resize(size);
    grown = true;
  } catch (const std::bad_alloc&) {
    // An exception may not pass through C, and a jump may not leave this block.
  }
  if (!grown) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  to.manager.next_output_byte = reinterpret_cast<JOCTET*>(to.out->data()) + used;
  to.manager.free_in_buffer = size - used;
  return TRUE;
}

constexpr std::size_t kFirstBytes = 16384;

void begin(j_compress_ptr info) { make_room(info, 0, kFirstBytes); }

boolean grow(j_compress_ptr info) {
  const std::size_t size = destination_of(info).out->size();
  return make_room(info, size, 2 * size);
}

void end(j_compress_ptr info) {
  Destination& to = destination_of(info);
  to.out->resize(to.out->size() - to.manager.free_in_buffer);
}

// One JPEG, written to `out`.
class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& out) : errors_(JpegDamage::refused) {
    errors_.attach(reinterpret_cast<j_common_ptr>(&info_));
    if (!errors_.attempt([&] { jpeg_create_compress(&info_); })) {
      jpeg_destroy_compress(&info_);
      fail(ErrorCode::memory, "libjpeg: {}", text());
    }
    destination_.out = &out;
    destination_.manager.init_destination = begin;
    destination_.manager.empty_output_buffer = grow;
    destination_.manager.term_destination = end;
    info_.dest = &destination_.manager;
  }
  ~Encoder() { jpeg_destroy_compress(&info_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const char* text() const noexcept { return errors_.text(); }

  bool write_image(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape,
                   int quality, JpegSubsampling subsampling) {
    return errors_.attempt([&] {
      configure(shape, quality);
      if (shape.components == 3) {
        info_.comp_info[0].h_samp_factor = subsampling == JpegSubsampling::s444 ? 1 : 2;
        info_.comp_info[0].v_samp_factor = subsampling == JpegSubsampling::s420 ? 2 : 1;
      }
      jpeg_start_compress(&info_, TRUE);
      write_rows(src, row_step);
    });
  }

  bool write_tile(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape,
                  int quality) {
    return errors_.attempt([&] {
      configure(shape, quality);
      info_.write_JFIF_header = FALSE;
      jpeg_suppress_tables(&info_, TRUE);
      jpeg_start_compress(&info_, FALSE);
      write_rows(src, row_step);
    });
  }

  bool write_tables(int quality) {
    return errors_.attempt([&] {
      configure({16, 16, 3}, quality);
      jpeg_write_tables(&info_);
    });
  }

 private:
  void configure(const JpegShape& shape, int quality) {
    info_.image_height = static_cast<JDIMENSION>(shape.height);
    info_.image_width = static_cast<JDIMENSION>(shape.width);
    info_.input_components = shape.components;
    info_.in_color_space = shape.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
  }

  void write_rows(const std::byte* src, std::ptrdiff_t row_step) {
    while (info_.next_scanline < info_.image_height) {
      auto* line = const_cast<JSAMPLE*>(reinterpret_cast<const JSAMPLE*>(
          src + static_cast<std::ptrdiff_t>(info_.next_scanline) * row_step));
      jpeg_write_scanlines(&info_, &line, 1);
    }
    jpeg_finish_compress(&info_);
  }

  JpegErrors errors_;
  jpeg_compress_struct info_{};
  Destination destination_;
};

void check_quality(int quality) {
  if (quality < 1 || quality > 100)
    fail(ErrorCode::usage, "JPEG quality {}; 1 to 100 are possible", quality);
}

}  // namespace

void encode_jpeg(const std::byte* src, std::ptrdiff_t row_step, const JpegShape& shape, int quality,
                 JpegSubsampling subsampling, std::string_view origin,
                 std::vector<std::byte>& out) {
  Encoder encoder(out);
  if (!encoder.write_image(src, row_step, shape, quality, subsampling))
    fail(ErrorCode::memory, "{}: {}", origin, encoder.text());
}

std::vector<std::byte> encode_jpeg_tile(const std::uint8_t* rgb, std::int64_t height,
                                        std::int64_t width, std::int64_t row_stride_bytes,
                                        int quality) {
  check_quality(quality);
  std::vector<std::byte> out;
  Encoder encoder(out);
  if (!encoder.write_tile(reinterpret_cast<const std::byte*>(rgb), row_stride_bytes,
                          {height, width, 3}, quality)) {
    fail(ErrorCode::usage, "encoding a JPEG of {}x{}: {}", width, height, encoder.text());
  }
  return out;
}

std::vector<std::byte> encode_jpeg_tables(int quality) {
  check_quality(quality);
  std::vector<std::byte> out;
  Encoder encoder(out);
  if (!encoder.write_tables(quality))
    fail(ErrorCode::internal, "writing JPEG tables: {}", encoder.text());
  return out;
}

}  // namespace headrace::pixels
