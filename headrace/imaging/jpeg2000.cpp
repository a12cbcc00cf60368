#include "headrace/imaging/jpeg2000.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

struct Memory {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read_memory(void* dst, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const std::size_t there = std::min<std::size_t>(count, memory.bytes.size() - memory.at);
  if (there == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(dst, memory.bytes.data() + memory.at, there);
  memory.at += there;
  return there;
}

OPJ_OFF_T skip_memory(OPJ_OFF_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (count < 0 || static_cast<std::size_t>(count) > memory.bytes.size() - memory.at) return -1;
  memory.at += static_cast<std::size_t>(count);
  return count;
}

OPJ_BOOL seek_memory(OPJ_OFF_T at, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (at < 0 || static_cast<std::size_t>(at) > memory.bytes.size()) return OPJ_FALSE;
  memory.at = static_cast<std::size_t>(at);
  return OPJ_TRUE;
}

void keep_message(const char* message, void* user) { *static_cast<std::string*>(user) = message; }
void drop_message(const char*, void*) {}

/// One picture being decoded: its header is read, its pixels are not yet.
class Picture {
 public:
  Picture(std::span<const std::uint8_t> bytes, const std::string& origin)
      : memory_{bytes},
        origin_(origin),
        codec_(opj_create_decompress(is_jp2(bytes) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K),
               opj_destroy_codec),
        stream_(opj_stream_default_create(OPJ_TRUE), opj_stream_destroy),
        image_(nullptr, opj_image_destroy) {
    if (!codec_ || !stream_) fail(ErrorCode::memory, "{}: OpenJPEG can't start.", origin);
    opj_set_error_handler(codec_.get(), keep_message, &reason_);
    opj_set_warning_handler(codec_.get(), drop_message, nullptr);
    opj_set_info_handler(codec_.get(), drop_message, nullptr);
    opj_stream_set_user_data(stream_.get(), &memory_, nullptr);
    opj_stream_set_user_data_length(stream_.get(), bytes.size());
    opj_stream_set_read_function(stream_.get(), read_memory);
    opj_stream_set_skip_function(stream_.get(), skip_memory);
    opj_stream_set_seek_function(stream_.get(), seek_memory);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    // Strict: a stream that ends early must not pass as a picture.
    if (!opj_setup_decoder(codec_.get(), &parameters) ||
        !opj_decoder_set_strict_mode(codec_.get(), OPJ_TRUE)) {
      corrupt();
    }
    opj_image_t* raw = nullptr;
    const bool header = opj_read_header(stream_.get(), codec_.get(), &raw);
    image_.reset(raw);
    if (!header) corrupt();
  }

  const opj_image_t& image() const noexcept { return *image_; }
  std::span<opj_image_comp_t> components() const { return {image_->comps, image_->numcomps}; }

  /// Errors: corrupt: the first component has another size.
  void expect_size(std::int64_t height, std::int64_t width) const {
    const opj_image_comp_t& first = image_->comps[0];
    if (first.w == width && first.h == height) return;
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture has {}x{} pixels, expected {}x{} as the header says.", origin_,
         first.w, first.h, width, height);
  }

  void decode() {
    if (!opj_decode(codec_.get(), stream_.get(), image_.get()) ||
        !opj_end_decompress(codec_.get(), stream_.get())) {
      corrupt();
    }
    for (const opj_image_comp_t& component : components()) {
      if (component.data == nullptr) corrupt();
    }
  }

 private:
  static bool is_jp2(std::span<const std::uint8_t> bytes) {
    return bytes.size() > 12 && std::memcmp(bytes.data() + 4, "jP  ", 4) == 0;
  }

  [[noreturn]] void corrupt() {
    while (!reason_.empty() && (reason_.back() == '\n' || reason_.back() == '.'))
      reason_.pop_back();
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture can't be decoded ({}). The file is truncated or damaged.",
         origin_, reason_);
  }

  Memory memory_;
  const std::string& origin_;
  std::string reason_ = "no reason given";
  std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec_;
  std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream_;
  std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image_;
};

/// Values of a row of one component, repeated where it has fewer pixels than the picture.
struct ComponentRows {
  const opj_image_comp_t* component;
  std::int64_t step_y, step_x;

  std::uint8_t at(std::int64_t y, std::int64_t x) const {
    const std::int32_t value = component->data[(y / step_y) * component->w + x / step_x];
    return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
  }
};

/// source: T.871 (JFIF), section 7, in libjpeg's 16-bit fixed point.
void to_rgb(std::uint8_t* pixel) {
  const int y = pixel[0], cb = pixel[1] - 128, cr = pixel[2] - 128;
  constexpr int kHalf = 1 << 15;
  const int red = y + ((91881 * cr + kHalf) >> 16);
  const int green = y + ((-22554 * cb - 46802 * cr + kHalf) >> 16);
  const int blue = y + ((116130 * cb + kHalf) >> 16);
  pixel[0] = static_cast<std::uint8_t>(std::clamp(red, 0, 255));
  pixel[1] = static_cast<std::uint8_t>(std::clamp(green, 0, 255));
  pixel[2] = static_cast<std::uint8_t>(std::clamp(blue, 0, 255));
}

/// Errors: unsupported: a component has another type or is not subsampled by whole pixels.
std::vector<ComponentRows> rows_of(const Picture& picture, std::int64_t height, std::int64_t width,
                                   const std::string& origin) {
  std::vector<ComponentRows> rows;
  for (const opj_image_comp_t& component : picture.components()) {
    const std::int64_t h = component.h, w = component.w;
    const std::int64_t step_y = h > 0 ? (height + h - 1) / h : 0;
    const std::int64_t step_x = w > 0 ? (width + w - 1) / w : 0;
    const bool covers =
        h > 0 && w > 0 && (height + step_y - 1) / step_y == h && (width + step_x - 1) / step_x == w;
    if (!covers || step_y > 4 || step_x > 4 || component.prec != 8 || component.sgnd != 0) {
      fail(ErrorCode::unsupported,
           "{}: JPEG 2000 with a component of {}x{} values of {} bits, expected {}x{} of 8 bits, "
           "or a half or quarter of them.",
           origin, component.w, component.h, component.prec, width, height);
    }
    rows.push_back({&component, step_y, step_x});
  }
  return rows;
}

}  // namespace

Jpeg2000Image decode_jpeg2000(std::span<const std::uint8_t> bytes, std::int64_t height,
                              std::int64_t width, const std::string& origin) {
  Picture picture(bytes, origin);
  const opj_image_t& image = picture.image();
  if (image.numcomps != 1 || image.comps[0].prec > 16) {
    fail(ErrorCode::unsupported,
         "{}: JPEG 2000 with {} components, expected one of at most 16 bits.", origin,
         image.numcomps);
  }
  picture.expect_size(height, width);
  picture.decode();
  const opj_image_comp_t& first = image.comps[0];
  Jpeg2000Image out;
  out.height = height;
  out.width = width;
  out.precision = static_cast<int>(first.prec);
  out.is_signed = first.sgnd != 0;
  out.pixels.assign(first.data, first.data + height * width);
  return out;
}

void decode_jpeg2000_pixels(std::span<const std::uint8_t> bytes, std::int64_t height,
                            std::int64_t width, int samples, bool ycbcr, std::uint8_t* dst,
                            std::int64_t row_stride_bytes, const std::string& origin) {
  Picture picture(bytes, origin);
  if (picture.image().numcomps != static_cast<OPJ_UINT32>(samples)) {
    fail(ErrorCode::unsupported, "{}: JPEG 2000 with {} components, expected {}.", origin,
         picture.image().numcomps, samples);
  }
  picture.expect_size(height, width);
  rows_of(picture, height, width, origin);
  picture.decode();
  // Checked again: a JP2 file's palette turns the header's components into others.
  const auto rows = rows_of(picture, height, width, origin);
  if (rows.size() != static_cast<std::size_t>(samples))
    fail(ErrorCode::unsupported, "{}: JPEG 2000 with a palette.", origin);
  const bool convert = samples == 3 && (ycbcr || picture.image().color_space == OPJ_CLRSPC_SYCC);
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint8_t* pixel = dst + y * row_stride_bytes;
    for (std::int64_t x = 0; x < width; ++x, pixel += samples) {
      for (std::size_t c = 0; c < rows.size(); ++c) pixel[c] = rows[c].at(y, x);
      if (convert) to_rgb(pixel);
    }
  }
}

}  // namespace headrace::imaging
