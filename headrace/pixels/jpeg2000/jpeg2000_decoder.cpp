#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_stream.hpp"

namespace headrace::pixels {
namespace {

/// OpenJPEG's own megabyte would be taken from the system and given back for each small tile.
constexpr OPJ_SIZE_T kStreamBytes = std::size_t{64} << 10;
/// OpenJPEG takes some kilobytes for each tile that a header claims, before any is read.
constexpr std::int64_t kFewTiles = 16, kPixelsOfATile = 32 * 32;

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
  Picture(std::span<const std::uint8_t> bytes, std::string_view origin)
      : memory_{bytes},
        origin_(origin),
        codec_(opj_create_decompress(is_jp2(bytes) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K),
               opj_destroy_codec),
        stream_(opj_stream_create(kStreamBytes, OPJ_TRUE), opj_stream_destroy),
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

  /// Only the window, whose pixels the components then are. The picture has a plain grid.
  void decode(const JpegWindow& window) {
    const auto edge = [](std::int64_t place) { return static_cast<OPJ_INT32>(place); };
    if (!opj_set_decode_area(codec_.get(), image_.get(), edge(window.x0), edge(window.y0),
                             edge(window.x1), edge(window.y1))) {
      corrupt();
    }
    decode();
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
  std::string_view origin_;
  std::string reason_ = "no reason given";
  std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec_;
  std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream_;
  std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> image_;
};

/// The values of one component, repeated where it has fewer than the picture has pixels.
struct ComponentValues {
  const opj_image_comp_t* component;
  std::int64_t step_y, step_x;

  /// Row y of the picture, columns [x0, x1), to every `samples`-th byte of `to`.
  void put_row(std::int64_t y, std::int64_t x0, std::int64_t x1, std::uint8_t* to,
               std::int64_t samples) const {
    const std::int32_t* row = component->data + (y / step_y) * component->w;
    if (step_x == 1) {
      for (std::int64_t x = x0; x < x1; ++x, to += samples) *to = byte_of(row[x]);
      return;
    }
    for (std::int64_t x = x0; x < x1; ++x, to += samples) *to = byte_of(row[x / step_x]);
  }

 private:
  static std::uint8_t byte_of(std::int32_t value) {
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

/// Errors: `code`: a component has another type or is not subsampled by whole pixels.
std::vector<ComponentValues> values_of(const Picture& picture, std::int64_t height,
                                       std::int64_t width, std::string_view origin,
                                       ErrorCode code) {
  std::vector<ComponentValues> values;
  for (const opj_image_comp_t& component : picture.components()) {
    const std::int64_t h = component.h, w = component.w;
    const std::int64_t step_y = h > 0 ? (height + h - 1) / h : 0;
    const std::int64_t step_x = w > 0 ? (width + w - 1) / w : 0;
    const bool covers =
        h > 0 && w > 0 && (height + step_y - 1) / step_y == h && (width + step_x - 1) / step_x == w;
    if (!covers || step_y > 4 || step_x > 4 || component.prec != 8 || component.sgnd != 0) {
      fail(code,
           "{}: JPEG 2000 with a component of {}x{} values of {} bits, expected {}x{} of 8 bits, "
           "or a half or quarter of them.",
           origin, component.w, component.h, component.prec, width, height);
    }
    values.push_back({&component, step_y, step_x});
  }
  return values;
}

/// What is decoded of a picture, and where its pixels go.
struct Wanted {
  std::int64_t height, width;  ///< of the picture
  int samples;
  JpegWindow window;
  bool ycbcr;
  std::uint8_t* dst;
  std::int64_t row_stride_bytes;
};

/// Errors: corrupt; `other`: another kind of picture.
void decode_pixels(Picture& picture, const Wanted& wanted, bool plain_grid, ErrorCode other,
                   std::string_view origin) {
  if (picture.image().numcomps != static_cast<OPJ_UINT32>(wanted.samples)) {
    fail(other, "{}: JPEG 2000 with {} components, expected {}.", origin, picture.image().numcomps,
         wanted.samples);
  }
  picture.expect_size(wanted.height, wanted.width);
  values_of(picture, wanted.height, wanted.width, origin, other);
  JpegWindow window = wanted.window;
  std::int64_t height = wanted.height, width = wanted.width;
  const bool whole = window.y1 - window.y0 == height && window.x1 - window.x0 == width;
  if (whole || !plain_grid) {
    picture.decode();
  } else {
    picture.decode(window);
    height = window.y1 - window.y0;
    width = window.x1 - window.x0;
    window = {0, height, 0, width};
  }
  // Checked again: a JP2 file's palette turns the header's components into others.
  const auto values = values_of(picture, height, width, origin, other);
  if (values.size() != static_cast<std::size_t>(wanted.samples))
    fail(other, "{}: JPEG 2000 with a palette.", origin);
  const bool convert =
      wanted.samples == 3 && (wanted.ycbcr || picture.image().color_space == OPJ_CLRSPC_SYCC);
  for (std::int64_t y = window.y0; y < window.y1; ++y) {
    std::uint8_t* row = wanted.dst + (y - window.y0) * wanted.row_stride_bytes;
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c].put_row(y, window.x0, window.x1, row + c, wanted.samples);
    if (!convert) continue;
    for (std::int64_t x = window.x0; x < window.x1; ++x, row += 3) to_rgb(row);
  }
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
  const Wanted wanted{height, width, samples, {0, height, 0, width}, ycbcr, dst, row_stride_bytes};
  decode_pixels(picture, wanted, false, ErrorCode::unsupported, origin);
}

void decode_jpeg2000_window(std::span<const std::byte> bytes, std::string_view origin,
                            const JpegShape& expect, const JpegWindow& window, std::byte* dst,
                            std::ptrdiff_t row_step) {
  const auto stream = find_codestream(bytes);
  const auto size = stream ? read_jpeg2000_size(stream->codestream) : std::nullopt;
  if (!size) {
    fail(ErrorCode::corrupt, "{}: not a JPEG 2000 picture: its first bytes are no header of one.",
         origin);
  }
  if (size->height != expect.height || size->width != expect.width ||
      size->components != expect.components || !size->bytes) {
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture has {}x{} pixels of {} components{}, expected {}x{} of {}.",
         origin, size->width, size->height, size->components,
         size->bytes ? "" : " that have not all 8 bits", expect.width, expect.height,
         expect.components);
  }
  if (size->tiles > kFewTiles + expect.height * expect.width / kPixelsOfATile) {
    fail(ErrorCode::corrupt,
         "{}: the JPEG 2000 picture of {}x{} pixels is said to have {} tiles; it is damaged.",
         origin, size->width, size->height, size->tiles);
  }
  const std::span<const std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                           bytes.size());
  Picture picture(data, origin);
  const Wanted wanted{expect.height, expect.width, expect.components,
                      window,        false,        reinterpret_cast<std::uint8_t*>(dst),
                      row_step};
  decode_pixels(picture, wanted, size->plain_grid, ErrorCode::corrupt, origin);
}

}  // namespace headrace::pixels
