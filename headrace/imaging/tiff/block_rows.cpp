#include "headrace/imaging/tiff/block_rows.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

/// A BigTIFF of one directory, in the byte order of the file whose samples it describes.
class Front {
 public:
  explicit Front(bool big_endian) : big_endian_(big_endian) {}

  void add(std::uint16_t tag, std::uint16_t type, std::vector<std::uint64_t> values) {
    entries_.push_back({tag, type, std::move(values)});
  }
  /// offset: the entry of this tag counts from the end of the front.
  std::vector<std::byte> bytes(std::uint16_t offset_tag) {
    std::sort(entries_.begin(), entries_.end(),
              [](const auto& a, const auto& b) { return a.tag < b.tag; });
    const std::uint64_t directory = 8 + entries_.size() * 20 + 8;
    std::uint64_t end = 16 + directory;
    for (const Entry& e : entries_) end += size(e) > 8 ? size(e) : 0;
    std::uint64_t spill = 16 + directory;
    put(big_endian_ ? 0x4D4D : 0x4949, 2);
    put(43, 2);
    put(8, 2);
    put(0, 2);
    put(16, 8);
    put(entries_.size(), 8);
    for (const Entry& e : entries_) {
      put(e.tag, 2);
      put(e.type, 2);
      put(e.values.size(), 8);
      if (size(e) > 8) {
        put(spill, 8);
        spill += size(e);
        continue;
      }
      const std::size_t begin = out_.size();
      for (const std::uint64_t value : e.values)
        put(value + (e.tag == offset_tag ? end : 0), width(e.type));
      out_.resize(begin + 8);
    }
    put(0, 8);
    for (const Entry& e : entries_) {
      if (size(e) <= 8) continue;
      for (const std::uint64_t value : e.values) put(value, width(e.type));
    }
    return std::move(out_);
  }

 private:
  struct Entry {
    std::uint16_t tag, type;
    std::vector<std::uint64_t> values;
  };
  static std::uint64_t width(std::uint16_t type) {
    return type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 1;
  }
  static std::uint64_t size(const Entry& e) { return e.values.size() * width(e.type); }
  void put(std::uint64_t value, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const std::uint64_t shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      out_.push_back(static_cast<std::byte>(value >> shift & 255));
    }
  }

  bool big_endian_;
  std::vector<Entry> entries_;
  std::vector<std::byte> out_;
};

constexpr std::uint16_t kByte = 1, kWord = 3, kDword = 4, kLong8 = 16;

std::uint16_t word_of(TIFF* tiff, std::uint32_t tag, std::uint16_t missing) {
  std::uint16_t value = missing;
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : missing;
}

int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

std::vector<std::byte> front_of(const TiffDirectory& d, TIFF* whole, std::size_t block,
                                std::int64_t height) {
  const bool planar = d.planar == PLANARCONFIG_SEPARATE && d.samples > 1;
  const auto samples = static_cast<std::uint64_t>(planar ? 1 : d.samples);
  const auto& bytes = d.strip_bytes;
  Front front(TIFFIsBigEndian(whole) != 0);
  const auto rows = static_cast<std::uint64_t>(height);
  front.add(TIFFTAG_IMAGEWIDTH, kDword,
            {static_cast<std::uint64_t>(d.tiled() ? d.tile_width : d.width)});
  front.add(TIFFTAG_IMAGELENGTH, kDword, {rows});
  front.add(TIFFTAG_ROWSPERSTRIP, kDword, {rows});
  front.add(TIFFTAG_BITSPERSAMPLE, kWord,
            std::vector<std::uint64_t>(samples, static_cast<std::uint64_t>(d.bits)));
  front.add(TIFFTAG_SAMPLEFORMAT, kWord, std::vector<std::uint64_t>(samples, d.sample_format));
  front.add(TIFFTAG_COMPRESSION, kWord, {d.compression});
  front.add(TIFFTAG_PHOTOMETRIC, kWord,
            {planar ? std::uint64_t{PHOTOMETRIC_MINISBLACK} : d.photometric});
  front.add(TIFFTAG_SAMPLESPERPIXEL, kWord, {samples});
  front.add(TIFFTAG_PLANARCONFIG, kWord, {PLANARCONFIG_CONTIG});
  front.add(TIFFTAG_FILLORDER, kWord, {word_of(whole, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB)});
  if (!d.extra_samples.empty() && !planar) {
    front.add(TIFFTAG_EXTRASAMPLES, kWord, {d.extra_samples.begin(), d.extra_samples.end()});
  }
  std::uint16_t predictor = 1;
  if (TIFFGetField(whole, TIFFTAG_PREDICTOR, &predictor) && predictor != 1)
    front.add(TIFFTAG_PREDICTOR, kWord, {predictor});
  if (d.photometric == PHOTOMETRIC_YCBCR) {
    std::uint16_t across = 2, down = 2;
    TIFFGetFieldDefaulted(whole, TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
    front.add(TIFFTAG_YCBCRSUBSAMPLING, kWord, {across, down});
  }
  if (!d.jpeg_tables.empty() && d.compression == COMPRESSION_JPEG) {
    std::vector<std::uint64_t> tables;
    for (const std::byte b : d.jpeg_tables) tables.push_back(std::to_integer<std::uint64_t>(b));
    front.add(TIFFTAG_JPEGTABLES, kByte, std::move(tables));
  }
  front.add(TIFFTAG_STRIPOFFSETS, kLong8,
            {d.tiled() ? d.tile_offsets.at(block) : d.strip_offsets.at(block)});
  front.add(TIFFTAG_STRIPBYTECOUNTS, kLong8,
            {d.tiled() ? d.tile_bytes.at(block) : bytes.at(block)});
  return front.bytes(TIFFTAG_STRIPOFFSETS);
}

}  // namespace

bool BlockRows::can(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_LZMA:
    case COMPRESSION_ZSTD:
      return true;
    default:
      return false;
  }
}

BlockRows::BlockRows(std::shared_ptr<const storage::Object> file, const TiffDirectory& d,
                     TIFF* whole, std::size_t block, std::int64_t height)
    : stream_(file, front_of(d, whole, block, height)) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, nullptr);
  tiff_ = stream_.open(options);
  TIFFOpenOptionsFree(options);
  if (tiff_ == nullptr) {
    stream_.rethrow();
    fail(ErrorCode::corrupt, "{}: a block can't be decoded by rows: {}", file->describe(), why_);
  }
  if (d.compression == COMPRESSION_JPEG && d.photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField(tiff_, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  row_bytes_ = static_cast<std::int64_t>(TIFFScanlineSize64(tiff_));
}

BlockRows::~BlockRows() {
  if (tiff_ != nullptr) TIFFClose(tiff_);
}

bool BlockRows::read(std::int64_t y, std::int64_t count, std::uint8_t* dst) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (TIFFReadScanline(tiff_, dst + i * row_bytes_, static_cast<std::uint32_t>(y + i), 0) < 0) {
      stream_.rethrow();
      return false;
    }
    next_ = y + i + 1;
  }
  return true;
}

int BlockRows::on_error(TIFF*, void* self, const char*, const char* format, va_list args) {
  auto& why = static_cast<BlockRows*>(self)->why_;
  if (!why.empty()) return 1;
  char text[256];
  std::vsnprintf(text, sizeof text, format, args);
  why = text;
  return 1;
}

}  // namespace headrace::imaging
