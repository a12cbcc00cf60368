#include "headrace/imaging/tiff/tiff_image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <regex>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/block_cache.hpp"
#include "headrace/imaging/jpeg2000.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_handle.hpp"
#include "headrace/imaging/whole_file.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kCacheBytes = std::uint64_t{64} << 20;
constexpr std::int64_t kMaxSide = std::int64_t{1} << 24;
constexpr std::uint64_t kScratchBytes = std::uint64_t{4} << 20;  // that a thread keeps

constexpr std::uint16_t kAperioYcbcr = 33003, kAperioRgb = 33005, kJpeg2000 = 34712;

bool is_jpeg2000(std::uint16_t compression) {
  return compression == kAperioYcbcr || compression == kAperioRgb || compression == kJpeg2000;
}

/// Decoded samples of one block as libtiff gave them (one plane after the other where planar).
struct Block {
  std::vector<std::uint8_t> bytes;
  std::int64_t row_bytes = 0, plane_bytes = 0;
};

template <typename T>
T field(TIFF* tiff, std::uint32_t tag, T missing) {
  T value = missing;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : missing;
}

/// PhysicalSizeX/Y of the first Pixels element in micrometres; other units are ignored.
std::optional<double> ome_size(const std::string& xml, const char* axis) {
  const std::string name = std::string("PhysicalSize") + axis;
  const std::regex unit(name + "Unit=\"([^\"]*)\"");
  std::smatch match;
  if (std::regex_search(xml, match, unit) && match[1] != "\xC2\xB5m" && match[1] != "\xCE\xBCm" &&
      match[1] != "um" && match[1] != "&#181;m" && match[1] != "&#xB5;m") {
    return std::nullopt;
  }
  if (!std::regex_search(xml, match, std::regex(name + "=\"([0-9.eE+-]{1,24})\"")))
    return std::nullopt;
  const double value = std::strtod(match[1].str().c_str(), nullptr);
  if (!credible_mpp(value)) return std::nullopt;
  return value;
}

void read_spacing(TIFF* tiff, TiffInfo& info) {
  char* text = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text != nullptr) {
    const std::string description(text, ::strnlen(text, 1 << 14));
    if (description.find("<OME") != std::string::npos) {
      info.mpp_x = ome_size(description, "X");
      info.mpp_y = ome_size(description, "Y");
      if (info.mpp_x && info.mpp_y) return;
    }
  }
  float x = 0, y = 0;
  const auto unit = field<std::uint16_t>(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
  const double um = unit == RESUNIT_INCH ? 25400.0 : unit == RESUNIT_CENTIMETER ? 10000.0 : 0.0;
  if (um > 0 && TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) &&
      TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y) && x > 0 && y > 0 && credible_mpp(um / x) &&
      credible_mpp(um / y)) {
    info.mpp_y = um / y;
    info.mpp_x = um / x;
  }
}

class LibtiffImage : public TiffImage {
 public:
  LibtiffImage(const std::string& path, std::uint64_t directory)
      : path_(path), pool_(path, directory), directory_(directory) {
    file_bytes_ = FileBytes(path).size();
    std::unique_ptr<TiffHandle> handle;
    try {
      handle = pool_.take();
    } catch (const Error&) {
      read_tiff_directories(FileBytes(path));  // its error states better where a file is cut off
      throw;
    }
    read_facts(*handle);
    check();
    check_block_count(*handle);
    pool_.put(std::move(handle));
  }

  const TiffInfo& info() const override { return info_; }
  const std::optional<std::string>& why_not_rgb() const override { return why_not_rgb_; }

  void read_rgb(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                std::uint8_t* dst, std::int64_t stride) const override {
    if (why_not_rgb_) fail(ErrorCode::unsupported, "{}: {}", path_, *why_not_rgb_);
    each_row(y0, x0, height, width,
             [&](const Block& block, std::int64_t by, std::int64_t bx, std::int64_t y,
                 std::int64_t x, std::int64_t count) {
               rgb_row(block, by, bx, count, dst + (y - y0) * stride + (x - x0) * 3);
             });
  }

  void read_first_sample(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                         std::uint16_t* dst, std::int64_t stride) const override {
    each_row(y0, x0, height, width,
             [&](const Block& block, std::int64_t by, std::int64_t bx, std::int64_t y,
                 std::int64_t x, std::int64_t count) {
               first_row(block, by, bx, count, dst + (y - y0) * stride + (x - x0));
             });
  }

 private:
  void read_facts(TiffHandle& handle) {
    TIFF* tiff = handle.get();
    std::uint32_t width = 0, height = 0, block_width = 0, block_height = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    tiled_ = TIFFIsTiled(tiff);
    if (tiled_) {
      TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &block_width);
      TIFFGetField(tiff, TIFFTAG_TILELENGTH, &block_height);
    } else {
      block_width = width;
      TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &block_height);
      block_height = std::min(block_height, height);
    }
    info_.height = height;
    info_.width = width;
    info_.block_height = block_height;
    info_.block_width = block_width;
    info_.bits = field<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
    info_.samples = field<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    info_.compression = field<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    info_.photometric = field<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    info_.orientation = field<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    planar_ = field<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) ==
                  PLANARCONFIG_SEPARATE &&
              info_.samples > 1;
    sample_format_ = field<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    block_bytes_ = tiled_ ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, block_height);
    row_bytes_ = std::int64_t(tiled_ ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff));
    if (is_jpeg2000(info_.compression)) {
      // Whatever the directory states about chroma, components come in full size.
      row_bytes_ = info_.block_width * info_.samples;
      block_bytes_ =
          static_cast<std::uint64_t>(row_bytes_) * static_cast<std::uint64_t>(info_.block_height);
    }
    if (info_.photometric == PHOTOMETRIC_PALETTE && info_.bits <= 8) read_palette(tiff);
    read_spacing(tiff, info_);
  }

  void read_palette(TIFF* tiff) {
    std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue)) return;
    for (int i = 0; i < (1 << info_.bits); ++i) {
      palette_.push_back(
          {std::uint8_t(red[i] >> 8), std::uint8_t(green[i] >> 8), std::uint8_t(blue[i] >> 8)});
    }
  }

  void check() {
    const auto& f = info_;
    if (f.height < 1 || f.width < 1 || f.height > kMaxSide || f.width > kMaxSide ||
        f.block_height < 1 || f.block_width < 1) {
      fail(ErrorCode::malformed, "{}: a TIFF of {}x{} pixels in blocks of {}x{} cannot be", path_,
           f.width, f.height, f.block_width, f.block_height);
    }
    if (!TIFFIsCODECConfigured(f.compression) && !is_jpeg2000(f.compression)) {
      fail(ErrorCode::unsupported,
           "{}: TIFF compression {} is not read; convert it, for example to Deflate", path_,
           f.compression);
    }
    if (f.bits != 1 && f.bits != 2 && f.bits != 4 && f.bits != 8 && f.bits != 16) {
      fail(ErrorCode::unsupported, "{}: {} bits a sample; 1, 2, 4, 8 and 16 are read", path_,
           f.bits);
    }
    if (is_jpeg2000(f.compression) &&
        (f.bits != 8 || planar_ || (f.samples != 1 && f.samples != 3))) {
      fail(ErrorCode::unsupported,
           "{}: JPEG 2000 of {} samples of {} bits{}; 8-bit grey and colour are read", path_,
           f.samples, f.bits, planar_ ? " in planes" : "");
    }
    if (sample_format_ != SAMPLEFORMAT_UINT && sample_format_ != SAMPLEFORMAT_VOID) {
      fail(ErrorCode::unsupported, "{}: the samples are not unsigned integers (SampleFormat {})",
           path_, sample_format_);
    }
    if (block_bytes_ < 1 ||
        block_bytes_ * std::uint64_t(planar_ ? f.samples : 1) > kMaxBlockBytes) {
      fail(ErrorCode::memory,
           "{}: one block decodes to {} bytes, the limit is {}; convert it to a tiled TIFF", path_,
           block_bytes_, kMaxBlockBytes);
    }
    // The bytes that rgb_row and first_row index; a directory that contradicts itself must not
    // pass.
    const std::int64_t per_row = (f.block_width * f.bits * (planar_ ? 1 : f.samples) + 7) / 8;
    const bool converted = f.photometric == PHOTOMETRIC_YCBCR && f.compression == COMPRESSION_JPEG;
    if (!converted &&
        (row_bytes_ < per_row || std::int64_t(block_bytes_) / row_bytes_ < f.block_height)) {
      fail(ErrorCode::malformed,
           "{}: the TIFF's directory contradicts itself: {} bytes a row, {} needed", path_,
           row_bytes_, per_row);
    }
    find_why_not_rgb();
  }

  /// libtiff guesses where the file lists a number of blocks that its picture does not have; a
  /// guess is not the stored picture.
  void check_block_count(TiffHandle& handle) const {
    const std::uint64_t wanted =
        tiled_ ? TIFFNumberOfTiles(handle.get()) : TIFFNumberOfStrips(handle.get());
    const FileBytes file(path_);
    const std::uint64_t found = directory_ == 0 ? read_first_tiff_directory(file).blocks
                                                : read_tiff_directory_at(file, directory_).blocks;
    // A single uncompressed strip is read in pieces on purpose: it is never in memory whole.
    const bool chopped = info_.compression == COMPRESSION_NONE && found == 1;
    if (found != wanted && !chopped) {
      fail(ErrorCode::malformed, "{}: the TIFF lists {} {}, its picture of {}x{} pixels has {}",
           path_, found, tiled_ ? "tiles" : "strips", info_.width, info_.height, wanted);
    }
  }

  void find_why_not_rgb() {
    const auto& f = info_;
    const bool grey =
        f.photometric == PHOTOMETRIC_MINISBLACK || f.photometric == PHOTOMETRIC_MINISWHITE;
    const bool jpeg_colour = f.photometric == PHOTOMETRIC_YCBCR &&
                             f.compression == COMPRESSION_JPEG && f.bits == 8 && f.samples == 3 &&
                             !planar_;
    const bool rgb =
        (f.photometric == PHOTOMETRIC_RGB && f.bits == 8 && f.samples >= 3) ||
        (is_jpeg2000(f.compression) && f.samples == 3 && f.photometric == PHOTOMETRIC_YCBCR);
    if (f.bits == 16) {
      why_not_rgb_ = "16 bits a sample; images of 8 bits are read";
    } else if (f.photometric == PHOTOMETRIC_PALETTE && palette_.empty()) {
      why_not_rgb_ = "a palette image without its colour map";
    } else if (!grey && !jpeg_colour && !rgb && f.photometric != PHOTOMETRIC_PALETTE) {
      why_not_rgb_ = fmt::format(
          "photometric {} with {} samples of {} bits is not read; convert it to 8-bit RGB",
          f.photometric, f.samples, f.bits);
    }
  }

  /// whole: all of the picture is wanted at once. Then blocks are not read again, and the thread's
  /// own memory is enough.
  std::shared_ptr<const Block> block(std::int64_t by, std::int64_t bx, bool whole) const {
    const std::int64_t across = (info_.width + info_.block_width - 1) / info_.block_width;
    const std::int64_t index = by * across + bx;
    if (auto found = cache_.find(index)) return found;
    static thread_local const auto scratch = std::make_shared<Block>();
    const bool keep = !whole || block_bytes_ > kScratchBytes;
    auto made = keep ? std::make_shared<Block>() : scratch;
    auto handle = pool_.take();
    decode(*handle, by, bx, index, *made);
    pool_.put(std::move(handle));
    if (keep) cache_.put(index, made, made->bytes.size());
    return made;
  }

  void decode(TiffHandle& handle, std::int64_t by, std::int64_t bx, std::int64_t index,
              Block& made) const {
    if (is_jpeg2000(info_.compression)) return decode_jpeg2000_block(handle, by, bx, index, made);
    TIFF* tiff = handle.get();
    const int planes = planar_ ? info_.samples : 1;
    std::uint64_t bytes = block_bytes_;
    made.row_bytes = row_bytes_;
    if (info_.compression == COMPRESSION_JPEG && info_.photometric == PHOTOMETRIC_YCBCR) {
      TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      bytes =
          tiled_ ? TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, std::uint32_t(info_.block_height));
      made.row_bytes = std::int64_t(tiled_ ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff));
      if (bytes > kMaxBlockBytes || made.row_bytes < info_.block_width * 3 ||
          bytes < std::uint64_t(made.row_bytes * info_.block_height)) {
        fail(ErrorCode::malformed, "{}: the TIFF's JPEG blocks contradict its directory", path_);
      }
    }
    made.plane_bytes = std::int64_t(bytes);
    made.bytes.resize(bytes * std::uint64_t(planes));
    const std::int64_t blocks = ((info_.width + info_.block_width - 1) / info_.block_width) *
                                ((info_.height + info_.block_height - 1) / info_.block_height);
    for (int plane = 0; plane < planes; ++plane) {
      const auto number = std::uint32_t(index + plane * blocks);
      auto* out = made.bytes.data() + std::size_t(plane) * bytes;
      // The last strip is shorter than the others; libtiff fills what it has, the rest is 0.
      const tmsize_t got = tiled_ ? TIFFReadEncodedTile(tiff, number, out, tmsize_t(bytes))
                                  : TIFFReadEncodedStrip(tiff, number, out, tmsize_t(bytes));
      if (got < 0) {
        fail(ErrorCode::corrupt, "{}: {} {} (row {}, column {}) cannot be decoded: {}", path_,
             tiled_ ? "tile" : "strip", number, by * info_.block_height, bx * info_.block_width,
             handle.take_message());
      }
      std::fill(out + got, out + bytes, std::uint8_t{0});
    }
  }

  void decode_jpeg2000_block(TiffHandle& handle, std::int64_t by, std::int64_t bx,
                             std::int64_t index, Block& made) const {
    const std::int64_t height =
        std::min(info_.block_height, info_.height - by * info_.block_height);
    made.row_bytes = row_bytes_;
    made.plane_bytes = std::int64_t(block_bytes_);
    made.bytes.assign(block_bytes_, std::uint8_t{255});
    const auto raw = raw_block(handle, std::uint32_t(index));
    if (raw.empty()) return;  // the file stores no such tile: glass
    const std::string origin =
        fmt::format("{}: {} {} (row {}, column {})", path_, tiled_ ? "tile" : "strip", index,
                    by * info_.block_height, bx * info_.block_width);
    const bool ycbcr = info_.compression == kAperioYcbcr ||
                       (info_.compression == kJpeg2000 && info_.photometric == PHOTOMETRIC_YCBCR);
    decode_jpeg2000_pixels(raw, tiled_ ? info_.block_height : height, info_.block_width,
                           info_.samples, ycbcr, made.bytes.data(), row_bytes_, origin);
  }

  /// A block as stored in the file; empty where there is none.
  std::vector<std::uint8_t> raw_block(TiffHandle& handle, std::uint32_t number) const {
    TIFF* tiff = handle.get();
    const std::uint64_t bytes = TIFFGetStrileByteCount(tiff, number);
    if (bytes == 0) return {};
    const std::uint64_t size = file_bytes_, at = TIFFGetStrileOffset(tiff, number);
    std::vector<std::uint8_t> raw(at <= size && bytes <= size - at ? bytes : 0);
    const auto wanted = tmsize_t(raw.size());
    const tmsize_t got = raw.empty() ? 0
                         : tiled_    ? TIFFReadRawTile(tiff, number, raw.data(), wanted)
                                     : TIFFReadRawStrip(tiff, number, raw.data(), wanted);
    if (raw.empty() || got != wanted) {
      fail(ErrorCode::corrupt,
           "{}: {} {} lies at bytes {} to {}, but the file ends at {}; it is truncated or damaged",
           path_, tiled_ ? "tile" : "strip", number, at, at + bytes, size);
    }
    return raw;
  }

  template <typename Row>
  void each_row(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                const Row& row) const {
    if (y0 < 0 || x0 < 0 || height < 0 || width < 0 || y0 + height > info_.height ||
        x0 + width > info_.width) {
      fail(ErrorCode::usage,
           "{}: rows {} to {} and columns {} to {} are not inside the image of {}x{}", path_, y0,
           y0 + height, x0, x0 + width, info_.width, info_.height);
    }
    if (height == 0 || width == 0) return;
    const std::int64_t bh = info_.block_height, bw = info_.block_width;
    for (std::int64_t by = y0 / bh; by * bh < y0 + height; ++by) {
      for (std::int64_t bx = x0 / bw; bx * bw < x0 + width; ++bx) {
        const std::int64_t left = std::max(x0, bx * bw),
                           right = std::min(x0 + width, (bx + 1) * bw);
        const std::int64_t top = std::max(y0, by * bh),
                           bottom = std::min(y0 + height, (by + 1) * bh);
        const bool whole = left == bx * bw && top == by * bh &&
                           right == std::min(info_.width, left + bw) &&
                           bottom == std::min(info_.height, top + bh);
        const auto decoded = block(by, bx, whole);
        for (std::int64_t y = top; y < bottom; ++y)
          row(*decoded, y - by * bh, left - bx * bw, y, left, right - left);
      }
    }
  }

  static unsigned sample_at(const std::uint8_t* row, std::int64_t index, int bits) {
    if (bits == 8) return row[index];
    if (bits == 16) {
      std::uint16_t value;
      std::memcpy(&value, row + index * 2, 2);
      return value;
    }
    const std::int64_t bit = index * bits;
    return unsigned(row[bit >> 3] >> (8 - bits - (bit & 7))) & ((1u << bits) - 1);
  }

  void rgb_row(const Block& block, std::int64_t by, std::int64_t bx, std::int64_t count,
               std::uint8_t* dst) const {
    const std::uint8_t* row = block.bytes.data() + by * block.row_bytes;
    const bool colour =
        info_.photometric == PHOTOMETRIC_RGB || info_.photometric == PHOTOMETRIC_YCBCR;
    if (colour && planar_) {
      for (int c = 0; c < 3; ++c) {
        for (std::int64_t i = 0; i < count; ++i)
          dst[i * 3 + c] = row[c * block.plane_bytes + bx + i];
      }
    } else if (colour && info_.samples == 3) {
      std::memcpy(dst, row + bx * 3, std::size_t(count * 3));
    } else if (colour) {
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(dst + i * 3, row + (bx + i) * info_.samples, 3);
    } else {
      grey_row(row, bx, count, dst);
    }
  }

  void grey_row(const std::uint8_t* row, std::int64_t bx, std::int64_t count,
                std::uint8_t* dst) const {
    const std::int64_t step = planar_ ? 1 : info_.samples;
    const unsigned top = (1u << info_.bits) - 1;
    for (std::int64_t i = 0; i < count; ++i) {
      unsigned value = sample_at(row, (bx + i) * step, info_.bits);
      if (!palette_.empty()) {
        std::memcpy(dst + i * 3, palette_[value].data(), 3);
        continue;
      }
      value = value * 255 / top;
      if (info_.photometric == PHOTOMETRIC_MINISWHITE) value = 255 - value;
      std::memset(dst + i * 3, int(value), 3);
    }
  }

  void first_row(const Block& block, std::int64_t by, std::int64_t bx, std::int64_t count,
                 std::uint16_t* dst) const {
    const std::uint8_t* row = block.bytes.data() + by * block.row_bytes;
    const std::int64_t step = planar_ ? 1 : info_.samples;
    for (std::int64_t i = 0; i < count; ++i)
      dst[i] = std::uint16_t(sample_at(row, (bx + i) * step, info_.bits));
  }

  std::string path_;
  mutable TiffHandlePool pool_;
  std::uint64_t directory_, file_bytes_ = 0;
  mutable BlockCache<Block> cache_{kCacheBytes};
  TiffInfo info_;
  bool tiled_ = false, planar_ = false;
  std::uint16_t sample_format_ = SAMPLEFORMAT_UINT;
  std::uint64_t block_bytes_ = 0;
  std::int64_t row_bytes_ = 0;
  std::vector<std::array<std::uint8_t, 3>> palette_;
  std::optional<std::string> why_not_rgb_;
};

}  // namespace

bool credible_mpp(double mpp) { return mpp >= 0.02 && mpp <= 50; }

std::unique_ptr<TiffImage> TiffImage::open(const std::string& path, std::uint64_t directory) {
  return std::make_unique<LibtiffImage>(path, directory);
}

}  // namespace headrace::imaging
