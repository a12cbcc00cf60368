#include "headrace/zarr/codec/blosc_stream.hpp"

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/zstd.hpp"

namespace headrace::zarr {
namespace {

// blosc's levels 1-9 in zstd's 1-22 (zstd_wrap_compress of c-blosc).
int zstd_level(int level) {
  if (level >= 9) return ZSTD_maxCLevel();
  return level == 8 ? ZSTD_maxCLevel() - 2 : 2 * level - 1;
}

// Whether a plane looks like noise to a coder of single bytes: of N fair bytes, the squares of the
// counts sum up to about N + N²/256. Integers, so that every machine decides alike.
bool is_noise(std::span<const std::byte> plane) {
  std::array<std::uint32_t, 256> counts{};
  for (const std::byte byte : plane) ++counts[std::to_integer<std::size_t>(byte)];
  std::uint64_t squares = 0;
  for (const std::uint64_t count : counts) squares += count * count;
  const std::uint64_t size = plane.size();
  return 4 * squares <= 5 * (size + size * size / 256);
}

std::size_t noisy_planes(std::span<const std::byte> block, std::size_t planes) {
  const std::size_t size = block.size() / std::max<std::size_t>(planes, 1);
  std::size_t noisy = 0;
  while (noisy < planes && is_noise(block.subspan(noisy * size, size))) ++noisy;
  return noisy * size;
}

std::size_t compress_zstd(int level, std::span<const std::byte> block, std::size_t planes,
                          std::span<std::byte> out) {
  ZSTD_CCtx* context = zstd_compressor();
  const std::size_t cut = noisy_planes(block, planes);
  if (cut == 0 || cut == block.size()) {
    return ZSTD_compressCCtx(context, out.data(), out.size(), block.data(), block.size(), level);
  }
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setPledgedSrcSize(context, block.size());
  ZSTD_outBuffer sink{out.data(), out.size(), 0};
  ZSTD_inBuffer in{block.data(), cut, 0};
  const std::size_t flushed = ZSTD_compressStream2(context, &sink, &in, ZSTD_e_flush);
  in.size = block.size();
  const std::size_t ended = ZSTD_compressStream2(context, &sink, &in, ZSTD_e_end);
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (flushed != 0 || ended != 0) return block.size();  // an error, or no room
  return sink.pos;
}

std::size_t compress_lz4(BloscCompressor compressor, int level, std::span<const std::byte> block,
                         std::span<std::byte> out) {
  const auto* src = reinterpret_cast<const char*>(block.data());
  auto* dst = reinterpret_cast<char*>(out.data());
  const auto size = static_cast<int>(block.size()), room = static_cast<int>(out.size());
  if (compressor == BloscCompressor::lz4) {  // c-blosc's get_accel
    return static_cast<std::size_t>(
        LZ4_compress_fast(src, dst, size, room, level == 9 ? 1 : 10 - level));
  }
  thread_local const auto state =
      std::make_unique_for_overwrite<std::uint64_t[]>(LZ4_sizeofStateHC() / 8 + 1);
  return static_cast<std::size_t>(
      LZ4_compress_HC_extStateHC(state.get(), src, dst, size, room, level));
}

}  // namespace

void decode_stream(bool lz4, std::span<const std::byte> packed, std::size_t at,
                   std::span<std::byte> out) {
  if (lz4) {
    const int got = LZ4_decompress_safe(
        reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(packed.size()), static_cast<int>(out.size()));
    if (got < 0)
      fail(ErrorCode::corrupt, "codec blosc: the block at byte {} is not an LZ4 block", at);
    if (static_cast<std::size_t>(got) != out.size()) {
      fail(ErrorCode::corrupt, "codec blosc: the block at byte {} gives {} bytes, expected {}", at,
           got, out.size());
    }
    return;
  }
  const std::size_t got = ZSTD_decompressDCtx(zstd_decompressor(), out.data(), out.size(),
                                              packed.data(), packed.size());
  if (ZSTD_isError(got) != 0) {
    fail(ErrorCode::corrupt, "codec blosc: the block at byte {}: {}", at, ZSTD_getErrorName(got));
  }
  if (got != out.size()) {
    fail(ErrorCode::corrupt, "codec blosc: the block at byte {} gives {} bytes, expected {}", at,
         got, out.size());
  }
}

std::size_t stream_bound(BloscCompressor compressor, std::size_t size) {
  return compressor == BloscCompressor::zstd
             ? ZSTD_compressBound(size)
             : static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(size)));
}

std::size_t encode_stream(BloscCompressor compressor, int level, std::span<const std::byte> block,
                          std::size_t planes, std::span<std::byte> out) {
  const bool zstd = compressor == BloscCompressor::zstd;
  const std::size_t packed = zstd ? compress_zstd(zstd_level(level), block, planes, out)
                                  : compress_lz4(compressor, level, block, out);
  if ((zstd && ZSTD_isError(packed) != 0) || packed >= block.size()) return 0;
  return packed;
}

}  // namespace headrace::zarr
