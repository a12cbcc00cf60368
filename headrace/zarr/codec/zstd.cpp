#include "headrace/zarr/codec/zstd.hpp"

#include <zstd.h>

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

// Several frames may follow each other (RFC 8878 §3): decoded by streaming, up to the limit.
std::size_t decode_stream(std::span<const std::byte> encoded, std::size_t limit, Scratch& out) {
  ZSTD_DCtx* context = zstd_decompressor();
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  std::vector<std::byte> decoded(std::min<std::size_t>(limit + 1, 1 << 16));
  ZSTD_inBuffer in{encoded.data(), encoded.size(), 0};
  ZSTD_outBuffer sink{decoded.data(), decoded.size(), 0};
  std::size_t rest = 1;
  while (in.pos < in.size || sink.pos == sink.size) {
    if (sink.pos == sink.size) {
      if (decoded.size() > limit) {
        fail(ErrorCode::corrupt, "codec zstd: more than {} bytes come out", limit);
      }
      decoded.resize(std::min(limit + 1, 2 * decoded.size()));
      sink.dst = decoded.data();
      sink.size = decoded.size();
    }
    const std::size_t before = in.pos + sink.pos;
    rest = ZSTD_decompressStream(context, &sink, &in);
    if (ZSTD_isError(rest) != 0) {
      fail(ErrorCode::corrupt, "codec zstd: {}", ZSTD_getErrorName(rest));
    }
    if (in.pos + sink.pos == before) break;
  }
  if (rest != 0) fail(ErrorCode::corrupt, "codec zstd: the data end inside a frame");
  if (sink.pos > limit) fail(ErrorCode::corrupt, "codec zstd: more than {} bytes come out", limit);
  out.reserve(sink.pos);
  std::copy_n(decoded.begin(), sink.pos, out.data());
  return sink.pos;
}

void check_frame(std::span<const std::byte> encoded, std::size_t wanted) {
  const unsigned long long stated = ZSTD_getFrameContentSize(encoded.data(), encoded.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) {
    fail(ErrorCode::corrupt, "codec zstd: the data do not begin with a zstd frame");
  }
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated > wanted) {
    fail(ErrorCode::corrupt, "codec zstd: the frame holds {} bytes, expected {}", stated, wanted);
  }
}

class ZstdCodec : public BytesBytesCodec {
 public:
  ZstdCodec(int level, bool checksum) : level_(level), checksum_(checksum) {}

  std::span<const std::byte> decode(std::span<const std::byte> encoded, const Expect& expect,
                                    Scratch& out) const override {
    if (!expect.size) {
      const std::size_t size = decode_stream(encoded, expect.limit, out);
      return {out.data(), size};
    }
    const std::size_t wanted = *expect.size;
    check_frame(encoded, wanted);
    out.reserve(wanted);
    const std::size_t size = ZSTD_decompressDCtx(zstd_decompressor(), out.data(), wanted,
                                                 encoded.data(), encoded.size());
    if (ZSTD_isError(size) != 0) {
      fail(ErrorCode::corrupt, "codec zstd: {}", ZSTD_getErrorName(size));
    }
    if (size != wanted) {
      fail(ErrorCode::corrupt, "codec zstd: {} bytes come out, expected {}", size, wanted);
    }
    return {out.data(), size};
  }

  bool splits() const override { return true; }
  StreamCodec packing() const override { return StreamCodec::zstd; }

  void split(std::span<const std::byte> encoded, const Expect& expect,
             ChunkStreams& out) const override {
    check_frame(encoded, *expect.size);
    check_zstd_stream(encoded, *expect.size);
    out.streams.push_back({StreamCodec::zstd, encoded, 0, *expect.size});
    out.size = *expect.size;
  }

  void encode(std::span<const std::byte> decoded, std::vector<std::byte>& out) const override {
    ZSTD_CCtx* context = zstd_compressor();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum_ ? 1 : 0);
    out.resize(ZSTD_compressBound(decoded.size()));
    const std::size_t size =
        ZSTD_compress2(context, out.data(), out.size(), decoded.data(), decoded.size());
    if (ZSTD_isError(size) != 0) {
      fail(ErrorCode::memory, "codec zstd: compressing {} bytes failed: {}", decoded.size(),
           ZSTD_getErrorName(size));
    }
    out.resize(size);
  }

 private:
  int level_;
  bool checksum_;
};

}  // namespace

void check_zstd_stream(std::span<const std::byte> packed, std::size_t size) {
  const unsigned long long stated = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (stated == ZSTD_CONTENTSIZE_UNKNOWN) {
    fail(ErrorCode::unsupported, "zstd: a frame that does not state its size is for the host");
  }
  if (stated != size) {
    fail(ErrorCode::corrupt, "zstd: the frame holds {} bytes, expected {}",
         stated == ZSTD_CONTENTSIZE_ERROR ? 0 : stated, size);
  }
  const std::size_t whole = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
  if (ZSTD_isError(whole) != 0) {
    fail(ErrorCode::corrupt, "zstd: {}", ZSTD_getErrorName(whole));
  }
  if (whole != packed.size()) {
    fail(ErrorCode::unsupported, "zstd: more than one frame in a stream is for the host");
  }
}

ZSTD_CCtx_s* zstd_compressor() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (!context) fail(ErrorCode::memory, "zstd: no memory for a compressor");
  return context.get();
}

ZSTD_DCtx_s* zstd_decompressor() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (!context) fail(ErrorCode::memory, "zstd: no memory for a decompressor");
  return context.get();
}

std::unique_ptr<BytesBytesCodec> make_zstd(CodecConfig& config) {
  const auto level = static_cast<int>(config.integer_or("level", 0, -131072, 22));
  const bool checksum = config.boolean_or("checksum", false);
  config.finish();
  return std::make_unique<ZstdCodec>(level, checksum);
}

}  // namespace headrace::zarr
