#include "headrace/imaging/tiff/tiff_image.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/imaging/block_cache.hpp"
#include "headrace/imaging/tiff/large_blocks.hpp"
#include "headrace/imaging/tiff/tiff_colours.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_handle.hpp"
#include "headrace/imaging/tiff/tiff_samples.hpp"
#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"

namespace headrace::imaging {
namespace {

constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kCacheBytes = std::uint64_t{64} << 20;
constexpr std::int64_t kMaxSide = std::int64_t{1} << 24;
constexpr std::uint64_t kScratchBytes = std::uint64_t{4} << 20;  // that a thread keeps

constexpr std::uint64_t kMaxIccBytes = std::uint64_t{16} << 20;

template <typename T>
T field(TIFF* tiff, std::uint32_t tag, T missing) {
  T value = missing;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : missing;
}

class LibtiffImage : public TiffImage {
 public:
  LibtiffImage(std::shared_ptr<const storage::Object> file, std::uint64_t directory)
      : path_(file->describe()), file_(std::move(file)), pool_(file_, directory) {
    std::unique_ptr<TiffHandle> handle;
    try {
      handle = pool_.take();
    } catch (const Error&) {
      read_tiff_directories(*file_);  // its error states better where a file is cut off
      throw;
    }
    d_ = directory == 0 ? read_first_tiff_directory(*file_)
                        : read_tiff_directory_at(*file_, directory);
    read_facts(*handle);
    check(*handle);
    check_block_count(*handle);
    pool_.put(std::move(handle));
  }

  const TiffInfo& info() const override { return info_; }
  const std::optional<std::string>& why_not_rgb() const override { return why_not_rgb_; }
  std::vector<std::byte> icc_profile() const override {
    if (d_.icc_profile.count == 0 || d_.icc_profile.count > kMaxIccBytes) return {};
    try {
      return read_tiff_bytes(*file_, d_.icc_profile, kMaxIccBytes);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) throw;
      return {};  // it is not in the file; the pixels are
    }
  }

  void read_rgb(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                std::uint8_t* dst, std::int64_t stride) const override {
    if (why_not_rgb_) fail(ErrorCode::unsupported, "{}: {}", path_, *why_not_rgb_);
    each_row(y0, x0, height, width,
             [&](const TiffBlock& block, std::int64_t by, std::int64_t bx, std::int64_t y,
                 std::int64_t x, std::int64_t count) {
               samples_.rgb_row(block, by, bx, count, dst + (y - y0) * stride + (x - x0) * 3);
             });
  }

  void read_first_sample(std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
                         std::uint16_t* dst, std::int64_t stride) const override {
    check_labels();
    each_row(y0, x0, height, width,
             [&](const TiffBlock& block, std::int64_t by, std::int64_t bx, std::int64_t y,
                 std::int64_t x, std::int64_t count) {
               samples_.label_row(block, by, bx, count, y, x, dst + (y - y0) * stride + (x - x0));
             });
  }

  ColourCount count_colours(std::int64_t y0, std::int64_t height) const override {
    check_labels();
    ColourCount colours;
    if (info_.samples < 2 || info_.photometric == PHOTOMETRIC_PALETTE) return colours;
    each_row(
        y0, 0, height, info_.width,
        [&](const TiffBlock& block, std::int64_t by, std::int64_t bx, std::int64_t, std::int64_t,
            std::int64_t count) { samples_.count_colours(block, by, bx, count, colours); });
    return colours;
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
    follow_libtiff();
  }

  /// What decides about the samples must be what libtiff decodes them by: a file may state a tag
  /// twice.
  void follow_libtiff() {
    d_.height = info_.height;
    d_.width = info_.width;
    d_.tile_height = tiled_ ? info_.block_height : 0;
    d_.tile_width = tiled_ ? info_.block_width : 0;
    d_.bits = info_.bits;
    d_.samples = static_cast<std::uint16_t>(info_.samples);
    d_.compression = info_.compression;
    d_.photometric = info_.photometric;
    d_.orientation = info_.orientation;
    d_.planar = planar_ ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG;
    d_.sample_format = sample_format_;
  }

  TiffSamples::Palette read_palette(TIFF* tiff) const {
    TiffSamples::Palette palette;
    if (info_.photometric != PHOTOMETRIC_PALETTE || info_.bits > 8) return palette;
    std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
    if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue)) return palette;
    for (int i = 0; i < (1 << info_.bits); ++i) {
      palette.push_back(
          {std::uint8_t(red[i] >> 8), std::uint8_t(green[i] >> 8), std::uint8_t(blue[i] >> 8)});
    }
    return palette;
  }

  void check(TiffHandle& handle) {
    const auto& f = info_;
    if (f.height < 1 || f.width < 1 || f.height > kMaxSide || f.width > kMaxSide ||
        f.block_height < 1 || f.block_width < 1) {
      fail(ErrorCode::malformed, "{}: a TIFF of {}x{} pixels in blocks of {}x{} cannot be", path_,
           f.width, f.height, f.block_width, f.block_height);
    }
    if (const auto volume = why_no_picture(d_))
      fail(ErrorCode::unsupported, "{}: {}", path_, *volume);
    if (!TIFFIsCODECConfigured(f.compression) && !is_jpeg2000(f.compression)) {
      fail(ErrorCode::unsupported,
           "{}: TIFF compression {} is not read; convert it, for example to Deflate", path_,
           f.compression);
    }
    constexpr std::array kBits{1, 2, 4, 8, 16, 32, 64};
    if (std::find(kBits.begin(), kBits.end(), f.bits) == kBits.end()) {
      fail(ErrorCode::unsupported,
           "{}: {} bits a sample; 1, 2, 4, 8 and 16 are read, of labels 32 and 64 as well", path_,
           f.bits);
    }
    if (is_jpeg2000(f.compression) &&
        (f.bits != 8 || planar_ || (f.samples != 1 && f.samples != 3))) {
      fail(ErrorCode::unsupported,
           "{}: JPEG 2000 of {} samples of {} bits{}; 8-bit grey and colour are read", path_,
           f.samples, f.bits, planar_ ? " in planes" : "");
    }
    const bool numbers = sample_format_ == SAMPLEFORMAT_UINT ||
                         sample_format_ == SAMPLEFORMAT_VOID ||
                         (sample_format_ == SAMPLEFORMAT_INT && f.bits >= 8) ||
                         (sample_format_ == SAMPLEFORMAT_IEEEFP && f.bits >= 16);
    if (!numbers) {
      fail(ErrorCode::unsupported, "{}: the samples are no numbers that are read (SampleFormat {})",
           path_, sample_format_);
    }
    const SampleKind kind = sample_format_ == SAMPLEFORMAT_INT      ? SampleKind::signed_integer
                            : sample_format_ == SAMPLEFORMAT_IEEEFP ? SampleKind::floating
                                                                    : SampleKind::unsigned_integer;
    samples_ = TiffSamples(path_, d_, kind, read_palette(handle.get()));
    const auto decoded = std::uint64_t(f.block_width) * std::uint64_t(f.block_height) *
                         std::uint64_t(f.samples) * std::uint64_t(std::max(1, f.bits / 8));
    if (row_bytes_ > 0 && LargeBlocks::fit(d_, std::max(decoded, block_bytes_)))
      large_ = std::make_unique<LargeBlocks>(file_, d_, pool_, f.block_height, row_bytes_);
    const std::uint64_t at_once = block_bytes_ * std::uint64_t(planar_ ? f.samples : 1);
    if (block_bytes_ < 1 || (!large_ && at_once > kMaxBlockBytes)) {
      fail(ErrorCode::memory,
           "{}: one block decodes to {} bytes, the limit is {}; convert it to a tiled TIFF", path_,
           block_bytes_, kMaxBlockBytes);
    }
    // The bytes that TiffSamples indexes; a directory that contradicts itself must not
    // pass.
    const std::int64_t per_row = (f.block_width * f.bits * (planar_ ? 1 : f.samples) + 7) / 8;
    const bool converted =
        (f.photometric == PHOTOMETRIC_YCBCR && f.compression == COMPRESSION_JPEG) ||
        samples_.colours() == TiffColours::libtiff;
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
    const std::uint64_t found = d_.blocks;
    // A single uncompressed strip is read in pieces on purpose: it is never in memory whole.
    const bool chopped = info_.compression == COMPRESSION_NONE && found == 1;
    if (found != wanted && !chopped) {
      fail(ErrorCode::malformed, "{}: the TIFF lists {} {}, its picture of {}x{} pixels has {}",
           path_, found, tiled_ ? "tiles" : "strips", info_.width, info_.height, wanted);
    }
  }

  /// Colours that libtiff converts have no samples as stored.
  void check_labels() const {
    if (samples_.colours() != TiffColours::libtiff) return;
    fail(ErrorCode::unsupported,
         "{}: a picture of photometric {} holds no labels; store them as grey values", path_,
         info_.photometric);
  }

  void find_why_not_rgb() {
    why_not_rgb_ = why_no_rgb(d_);
    if (!why_not_rgb_ && info_.photometric == PHOTOMETRIC_PALETTE && samples_.palette().empty())
      why_not_rgb_ = "a palette image without its colour map";
  }

  /// The last strip has fewer rows than the others.
  std::int64_t rows_of_block(std::int64_t by) const {
    return tiled_ ? info_.block_height
                  : std::min(info_.block_height, info_.height - by * info_.block_height);
  }
  std::int64_t blocks_across() const {
    return (info_.width + info_.block_width - 1) / info_.block_width;
  }
  std::int64_t blocks_of_plane() const {
    return blocks_across() * ((info_.height + info_.block_height - 1) / info_.block_height);
  }
  /// Whether the file stores a block. libtiff reads one strip without compression as many.
  bool is_missing(std::int64_t number) const {
    return d_.is_missing(static_cast<std::size_t>(d_.blocks == 1 ? 0 : number));
  }

  /// whole: all of the picture is wanted at once. Then blocks are not read again, and the thread's
  /// own memory is enough.
  std::shared_ptr<const TiffBlock> block(std::int64_t by, std::int64_t bx, bool whole) const {
    const std::int64_t index = by * blocks_across() + bx;
    if (auto found = cache_.find(index)) return found;
    static thread_local const auto scratch = std::make_shared<TiffBlock>();
    const bool keep = !whole || block_bytes_ > kScratchBytes;
    auto made = keep ? std::make_shared<TiffBlock>() : scratch;
    auto handle = pool_.take();
    decode(*handle, by, bx, index, *made);
    pool_.put(std::move(handle));
    if (keep) cache_.put(index, made, made->bytes.size());
    return made;
  }

  void decode(TiffHandle& handle, std::int64_t by, std::int64_t bx, std::int64_t index,
              TiffBlock& made) const {
    made.missing = 0;
    if (is_jpeg2000(info_.compression)) return decode_jpeg2000_block(handle, by, bx, index, made);
    if (samples_.colours() == TiffColours::libtiff)
      return decode_by_libtiff(handle, by, bx, index, made);
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
    for (int plane = 0; plane < planes; ++plane) {
      const auto number = std::uint32_t(index + plane * blocks_of_plane());
      auto* out = made.bytes.data() + std::size_t(plane) * bytes;
      if (is_missing(number)) {
        made.mark_missing(plane);
        std::fill(out, out + bytes, std::uint8_t{0});
        continue;
      }
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
                             std::int64_t index, TiffBlock& made) const {
    made.row_bytes = row_bytes_;
    made.plane_bytes = std::int64_t(block_bytes_);
    made.bytes.assign(block_bytes_, std::uint8_t{0});
    if (is_missing(index)) {
      made.mark_missing(0);
      return;
    }
    const auto raw = raw_block(handle, std::uint32_t(index));
    const std::string origin =
        fmt::format("{}: {} {} (row {}, column {})", path_, tiled_ ? "tile" : "strip", index,
                    by * info_.block_height, bx * info_.block_width);
    pixels::decode_jpeg2000_pixels(raw, rows_of_block(by), info_.block_width, info_.samples,
                                   is_ycbcr_jpeg2000(d_), made.bytes.data(), row_bytes_, origin);
  }

  /// Colours that libtiff converts, into RGB.
  void decode_by_libtiff(TiffHandle& handle, std::int64_t by, std::int64_t bx, std::int64_t index,
                         TiffBlock& made) const {
    const std::int64_t width = info_.block_width, rows = rows_of_block(by);
    made.row_bytes = width * 3;
    made.plane_bytes = made.row_bytes * info_.block_height;
    made.bytes.assign(static_cast<std::size_t>(made.plane_bytes), std::uint8_t{0});
    if (is_missing(index)) {
      made.mark_missing(0);
      return;
    }
    std::vector<std::uint32_t> raster(static_cast<std::size_t>(width * info_.block_height));
    const auto y = std::uint32_t(by * info_.block_height), x = std::uint32_t(bx * width);
    const int read = tiled_ ? TIFFReadRGBATileExt(handle.get(), x, y, raster.data(), 1)
                            : TIFFReadRGBAStripExt(handle.get(), y, raster.data(), 1);
    if (read == 0) {
      fail(ErrorCode::corrupt, "{}: {} {} (row {}, column {}) cannot be decoded: {}", path_,
           tiled_ ? "tile" : "strip", index, y, x, handle.take_message());
    }
    for (std::int64_t row = 0; row < rows; ++row) {  // libtiff begins at the bottom
      const std::uint32_t* from = raster.data() + (rows - 1 - row) * width;
      std::uint8_t* to = made.bytes.data() + row * made.row_bytes;
      for (std::int64_t i = 0; i < width; ++i) {
        to[i * 3] = std::uint8_t(TIFFGetR(from[i]));
        to[i * 3 + 1] = std::uint8_t(TIFFGetG(from[i]));
        to[i * 3 + 2] = std::uint8_t(TIFFGetB(from[i]));
      }
    }
  }

  /// A block as stored in the file.
  std::vector<std::uint8_t> raw_block(TiffHandle& handle, std::uint32_t number) const {
    TIFF* tiff = handle.get();
    const std::uint64_t bytes = TIFFGetStrileByteCount(tiff, number);
    const std::uint64_t size = file_->size_bytes(), at = TIFFGetStrileOffset(tiff, number);
    const bool inside = at <= size && bytes <= size - at;
    std::vector<std::uint8_t> raw(inside ? bytes : 0);
    const auto wanted = tmsize_t(raw.size());
    const tmsize_t got = raw.empty() ? 0
                         : tiled_    ? TIFFReadRawTile(tiff, number, raw.data(), wanted)
                                     : TIFFReadRawStrip(tiff, number, raw.data(), wanted);
    if (inside && got != wanted) {
      fail(ErrorCode::corrupt, "{}: {} {} cannot be read: {}", path_, tiled_ ? "tile" : "strip",
           number, handle.take_message());
    }
    if (raw.empty()) {
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
        if (large_) {
          const std::int64_t rows = large_->rows_at_a_time();
          for (std::int64_t y = top; y < bottom;) {
            const std::int64_t part = (y - by * bh) / rows, first = by * bh + part * rows;
            const auto decoded = large_->rows(by, bx, part);
            for (const std::int64_t end = std::min(bottom, first + rows); y < end; ++y)
              row(*decoded, y - first, left - bx * bw, y, left, right - left);
          }
          continue;
        }
        const bool whole = left == bx * bw && top == by * bh &&
                           right == std::min(info_.width, left + bw) &&
                           bottom == std::min(info_.height, top + bh);
        const auto decoded = block(by, bx, whole);
        for (std::int64_t y = top; y < bottom; ++y)
          row(*decoded, y - by * bh, left - bx * bw, y, left, right - left);
      }
    }
  }

  std::string path_;
  std::shared_ptr<const storage::Object> file_;
  mutable TiffHandlePool pool_;
  TiffDirectory d_;
  mutable BlockCache<TiffBlock> cache_{kCacheBytes};
  std::unique_ptr<LargeBlocks> large_;
  TiffSamples samples_;
  TiffInfo info_;
  bool tiled_ = false, planar_ = false;
  std::uint16_t sample_format_ = SAMPLEFORMAT_UINT;
  std::uint64_t block_bytes_ = 0;
  std::int64_t row_bytes_ = 0;
  std::optional<std::string> why_not_rgb_;
};

}  // namespace

std::unique_ptr<TiffImage> TiffImage::open(std::shared_ptr<const storage::Object> file,
                                           std::uint64_t directory) {
  return std::make_unique<LibtiffImage>(std::move(file), directory);
}

}  // namespace headrace::imaging
