#include "headrace/zarr/codec/blosc.hpp"

#include <blosc.h>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/blosc_frame.hpp"

namespace headrace::zarr {
namespace {

constexpr std::string_view kCompressors[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
constexpr std::string_view kFormats[] = {"blosclz", "lz4", "snappy", "zlib",
                                         "zstd"};  // BloscHeader::Format
constexpr std::string_view kShuffles[] = {"noshuffle", "shuffle",
                                          "bitshuffle"};  // blosc.h's 0, 1, 2

class BloscCodec : public BytesBytesCodec {
 public:
  struct Settings {
    std::string compressor = "zstd";
    int level = 5, shuffle = BLOSC_NOSHUFFLE;
    std::int32_t typesize = 1, block_size = 0;
  };
  explicit BloscCodec(Settings settings) : settings_(std::move(settings)) {}

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch& out) const override {
    const BloscHeader header = header_of(encoded, expect);
    const auto size = static_cast<std::size_t>(header.size);
    if (header.stored) return encoded.subspan(encoded.size() - size);
    if (size == 0) return {};
    out.reserve(size);
    if (decodes_blosc(header)) {
      const ByteRange needed = expect.size ? expect.needed : ByteRange{0, size};
      decode_blosc(encoded, header, needed, out.data());
      return {out.data(), size};
    }
    const int got = blosc_decompress_ctx(encoded.data(), out.data(), size, 1);
    if (got < 0 || static_cast<std::size_t>(got) != size) {
      fail(ErrorCode::corrupt, "codec blosc: libblosc cannot decode the frame (result {})", got);
    }
    return {out.data(), size};
  }

  // Frames of compressors other than zstd and LZ4 are found, and refused, one by one.
  bool splits() const override { return true; }

  void split(std::span<const std::byte> encoded, const Expect& expect,
             ChunkStreams& out) const override {
    const BloscHeader header = header_of(encoded, expect);
    const auto size = static_cast<std::size_t>(header.size);
    const ByteRange needed = expect.needed;
    if (header.stored) {
      const auto part = encoded.last(size).subspan(needed.begin, needed.end - needed.begin);
      out.streams.push_back({StreamCodec::stored, part, needed.begin, part.size()});
      out.size = size;
      return;
    }
    if (!decodes_blosc(header)) {
      fail(ErrorCode::unsupported,
           "codec blosc: a frame of compressor {} with{} bit shuffle of {} bytes is for the host",
           kFormats[static_cast<std::size_t>(header.format)], header.bitshuffle ? "" : "out",
           header.typesize);
    }
    split_blosc(encoded, header, needed, out);
  }

  void encode(std::span<const std::byte> decoded, std::vector<std::byte>& out) const override {
    if (const auto format = own_format()) {
      encode_blosc(decoded, *format, out);
      return;
    }
    out.resize(decoded.size() + BLOSC_MAX_OVERHEAD);
    const int size = blosc_compress_ctx(
        settings_.level, settings_.shuffle, static_cast<std::size_t>(settings_.typesize),
        decoded.size(), decoded.data(), out.data(), out.size(), settings_.compressor.c_str(),
        static_cast<std::size_t>(settings_.block_size), 1);
    if (size <= 0) {
      fail(ErrorCode::unsupported, "codec blosc: libblosc cannot compress with {} (result {})",
           settings_.compressor, size);
    }
    out.resize(static_cast<std::size_t>(size));
  }

 private:
  static BloscHeader header_of(std::span<const std::byte> encoded, const Expect& expect) {
    const BloscHeader header = BloscHeader::parse(encoded);
    const auto size = static_cast<std::size_t>(header.size);
    if (expect.size ? size != *expect.size : size > expect.limit) {
      fail(ErrorCode::corrupt, "codec blosc: the frame holds {} bytes, expected {}{}", size,
           expect.size ? "" : "at most ", expect.size.value_or(expect.limit));
    }
    return header;
  }

  // The settings whose frames are written here.
  std::optional<BloscFormat> own_format() const {
    const bool bits = settings_.shuffle == BLOSC_BITSHUFFLE;
    const bool zstd = settings_.compressor == "zstd";
    if (bits ? settings_.typesize != 2 : !zstd) return std::nullopt;
    BloscFormat format{BloscCompressor::zstd, settings_.level, BloscFilter::none,
                       settings_.typesize, settings_.block_size};
    if (settings_.compressor == "lz4") {
      format.compressor = BloscCompressor::lz4;
    } else if (settings_.compressor == "lz4hc") {
      format.compressor = BloscCompressor::lz4hc;
    } else if (!zstd) {
      return std::nullopt;
    }
    if (settings_.shuffle == BLOSC_SHUFFLE) format.filter = BloscFilter::bytes;
    if (bits) format.filter = BloscFilter::bits;
    return format;
  }

  Settings settings_;
};

}  // namespace

std::unique_ptr<BytesBytesCodec> make_blosc(CodecConfig& config) {
  BloscCodec::Settings settings;
  settings.compressor = std::string(kCompressors[config.choice("cname", kCompressors)]);
  settings.level = static_cast<int>(config.integer("clevel", 0, 9));
  settings.shuffle = static_cast<int>(config.choice("shuffle", kShuffles));
  settings.block_size =
      static_cast<std::int32_t>(config.integer_or("blocksize", 0, 0, BLOSC_MAX_BLOCKSIZE));
  settings.typesize = static_cast<std::int32_t>(
      settings.shuffle == BLOSC_NOSHUFFLE ? config.integer_or("typesize", 1, 1, BLOSC_MAX_TYPESIZE)
                                          : config.integer("typesize", 1, BLOSC_MAX_TYPESIZE));
  config.finish();
  return std::make_unique<BloscCodec>(std::move(settings));
}

}  // namespace headrace::zarr
