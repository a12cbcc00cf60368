#include "headrace/imaging/picture/png_codec.hpp"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/orientation.hpp"

namespace headrace::imaging {
namespace {

/// libpng's callbacks leave by longjmp, so everything with a destructor lives outside the functions
/// that set the jump.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool writes = false;
  std::uint32_t frames = 1;  ///< of an animation
  char message[160] = {};
  std::shared_ptr<const storage::Object> object;  ///< what is read
  std::uint64_t size = 0, at = 0;
  std::exception_ptr unread;  ///< why a read failed
  ~PngState() {
    if (writes) {
      png_destroy_write_struct(&png, &info);
    } else {
      png_destroy_read_struct(&png, &info, nullptr);
    }
  }
};

void on_error(png_structp png, png_const_charp text) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", text);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}

/// An animation states its number of pictures in a chunk before the first (acTL), which libpng does
/// not know.
int on_chunk(png_structp png, png_unknown_chunkp chunk) {
  if (std::memcmp(chunk->name, "acTL", 4) != 0 || chunk->size < 4) return 0;
  auto* state = static_cast<PngState*>(png_get_user_chunk_ptr(png));
  state->frames = png_get_uint_32(chunk->data);
  return 1;
}

enum class Want { rgb, labels };

void read_bytes(png_structp png, png_bytep dst, std::size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (count > state->size - state->at) png_error(png, "the file ends early");
  try {
    state->object->read(state->at, {reinterpret_cast<std::byte*>(dst), count});
  } catch (...) {
    state->unread = std::current_exception();
  }
  if (state->unread) png_error(png, "the file can't be read");
  state->at += count;
}

bool read_header(PngState& state) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_set_user_limits(state.png, 1 << 20, 1 << 20);
  png_set_chunk_malloc_max(state.png, 16 << 20);
  png_set_read_fn(state.png, &state, read_bytes);
  png_set_read_user_chunk_fn(state.png, &state, on_chunk);
  png_read_info(state.png, state.info);
  return true;
}

bool configure(PngState& state, Want want) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  const int type = png_get_color_type(state.png, state.info);
  if (want == Want::rgb) {
    png_set_expand(state.png);
    png_set_strip_16(state.png);
    // Rounds as libtiff and OpenSlide do for tiles: white shows through what is transparent.
    png_color_16 white{};
    white.red = white.green = white.blue = white.gray = 255;
    const bool clear = (type & PNG_COLOR_MASK_ALPHA) != 0 ||
                       png_get_valid(state.png, state.info, PNG_INFO_tRNS) != 0;
    if (clear) png_set_background(state.png, &white, PNG_BACKGROUND_GAMMA_SCREEN, 0, 1.0);
    if (!(type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(state.png);
  } else {
    png_set_packing(state.png);
    png_set_swap(state.png);
  }
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  return true;
}

bool read_rows(PngState& state, png_bytep* rows) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_read_image(state.png, rows);
  png_read_end(state.png, state.info);
  return true;
}

class PngFile {
 public:
  explicit PngFile(std::shared_ptr<const storage::Object> file) : path_(file->describe()) {
    state_.object = std::move(file);
    state_.size = state_.object->size_bytes();
    state_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, on_error, on_warning);
    state_.info = png_create_info_struct(state_.png);
    if (!read_header(state_)) {
      rethrow();
      // A file is asked for its header only where its first bytes are a PNG's.
      fail(ErrorCode::corrupt, "{}: is not a readable PNG: {}", path_, state_.message);
    }
    if (state_.frames > 1) {
      fail(
          ErrorCode::unsupported,
          "{}: holds {} pictures (an animated PNG), and one is read; extract the one that is meant "
          "to a file of its own",
          path_, state_.frames);
    }
    check_orientation();
  }

  PngInfo info() const {
    PngInfo info;
    info.height = png_get_image_height(state_.png, state_.info);
    info.width = png_get_image_width(state_.png, state_.info);
    info.bits = png_get_bit_depth(state_.png, state_.info);
    info.icc_profile = icc_profile();
    png_uint_32 x = 0, y = 0;
    int unit = PNG_RESOLUTION_UNKNOWN;
    if (png_get_pHYs(state_.png, state_.info, &x, &y, &unit) && unit == PNG_RESOLUTION_METER && x &&
        y) {
      info.spacing = {1e6 / y, 1e6 / x};
    }
    return info;
  }

  /// Decoded bytes of the whole image, `channels` and `bytes_per_sample` as they came out.
  std::vector<std::uint8_t> decode(Want want, std::uint64_t max_bytes, int& channels, int& depth) {
    const PngInfo size = info();
    const std::uint64_t wanted = std::uint64_t(size.height) * std::uint64_t(size.width) * 3;
    if (wanted > max_bytes) {
      fail(ErrorCode::memory,
           "{}: {}x{} pixels need {} bytes in memory, the limit is {}; convert it to a tiled TIFF",
           path_, size.width, size.height, wanted, max_bytes);
    }
    if (!configure(state_, want)) damaged();
    channels = png_get_channels(state_.png, state_.info);
    depth = png_get_bit_depth(state_.png, state_.info);
    const std::size_t row_bytes = png_get_rowbytes(state_.png, state_.info);
    std::vector<std::uint8_t> pixels(row_bytes * std::size_t(size.height));
    std::vector<png_bytep> rows(std::size_t(size.height));
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = pixels.data() + y * row_bytes;
    if (!read_rows(state_, rows.data())) damaged();
    check_orientation();  // the chunk may stand behind the pixels
    return pixels;
  }

 private:
  void check_orientation() const {
    png_uint_32 bytes = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(state_.png, state_.info, &bytes, &exif) == 0) return;
    if (const auto turned =
            why_turned(exif_orientation({reinterpret_cast<std::byte*>(exif), bytes})))
      fail(ErrorCode::unsupported, "{}: {}", path_, *turned);
  }

  std::vector<std::byte> icc_profile() const {
    png_charp name = nullptr;
    png_bytep profile = nullptr;
    int method = 0;
    png_uint_32 bytes = 0;
    if (png_get_iCCP(state_.png, state_.info, &name, &method, &profile, &bytes) == 0) return {};
    const auto* first = reinterpret_cast<const std::byte*>(profile);
    return {first, first + bytes};
  }

  void rethrow() const {
    if (state_.unread) std::rethrow_exception(state_.unread);
  }

  [[noreturn]] void damaged() const {
    rethrow();
    fail(ErrorCode::corrupt, "{}: the PNG cannot be decoded: {}", path_, state_.message);
  }

  std::string path_;
  PngState state_;
};

void append_bytes(png_structp png, png_bytep data, std::size_t size) {
  auto* out = static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  out->insert(out->end(), data, data + size);
}
void flush_nothing(png_structp) {}

int colour_type(std::int64_t channels) {
  if (channels == 1) return PNG_COLOR_TYPE_GRAY;
  return channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
}

bool write_rows(PngState& state, const pixels::Image8& image, std::vector<std::uint8_t>& out) {
  if (setjmp(png_jmpbuf(state.png))) return false;
  png_set_write_fn(state.png, &out, append_bytes, flush_nothing);
  png_set_IHDR(state.png, state.info, png_uint_32(image.width), png_uint_32(image.height), 8,
               colour_type(image.channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(state.png, state.info);
  for (std::int64_t y = 0; y < image.height; ++y) png_write_row(state.png, image.row(y));
  png_write_end(state.png, nullptr);
  return true;
}

}  // namespace

PngInfo read_png_info(std::shared_ptr<const storage::Object> file) {
  return PngFile(std::move(file)).info();
}

pixels::Image8 decode_png_rgb(std::shared_ptr<const storage::Object> object,
                              std::uint64_t max_bytes) {
  PngFile file(std::move(object));
  const PngInfo info = file.info();
  int channels = 0, depth = 0;
  pixels::Image8 image;
  image.pixels = file.decode(Want::rgb, max_bytes, channels, depth);
  image.height = info.height;
  image.width = info.width;
  image.channels = 3;
  return image;
}

pixels::Image<std::uint16_t> decode_png_labels(std::shared_ptr<const storage::Object> object,
                                               std::uint64_t max_bytes,
                                               std::vector<ColourCount>& colours) {
  PngFile file(std::move(object));
  const PngInfo info = file.info();
  int channels = 0, depth = 0;
  const auto bytes = file.decode(Want::labels, max_bytes, channels, depth);
  pixels::Image<std::uint16_t> labels(info.height, info.width, 1);
  const auto sample = [&](std::size_t at) {
    if (depth != 16) return std::uint16_t{bytes[at]};
    std::uint16_t value;
    std::memcpy(&value, bytes.data() + at * 2, 2);
    return value;
  };
  const std::size_t step = std::size_t(channels), wide = std::size_t(info.width);
  if (step >= 2) colours.resize(std::size_t(info.height));
  for (std::size_t i = 0; i < labels.pixels.size(); ++i) {
    labels.pixels[i] = sample(i * step);
    if (step % 2 == 0) colours[i / wide].add_beside(sample(i * step + step - 1));
    if (step < 3) continue;
    colours[i / wide].add(labels.pixels[i], sample(i * step + 1), sample(i * step + 2));
  }
  return labels;
}

std::vector<std::uint8_t> encode_png_bytes(const pixels::Image8& image) {
  const bool known = image.channels == 1 || image.channels == 3 || image.channels == 4;
  if (!known || image.height < 1 || image.width < 1) {
    fail(ErrorCode::usage, "a PNG needs 1, 3 or 4 channels and at least one pixel, found {}x{}x{}",
         image.height, image.width, image.channels);
  }
  PngState state;
  state.writes = true;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  state.info = png_create_info_struct(state.png);
  std::vector<std::uint8_t> out;
  if (!write_rows(state, image, out)) {
    fail(ErrorCode::internal, "encoding a PNG of {}x{}: {}", image.width, image.height,
         state.message);
  }
  return out;
}

}  // namespace headrace::imaging
