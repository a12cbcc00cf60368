#include "headrace/zarr/codec/blosc_frame.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/zstd.hpp"

namespace headrace::zarr {
namespace {

// Names as in c-blosc's blosc.h and blosc.c.
constexpr std::size_t kHeaderBytes = 16;
constexpr std::uint8_t kFrameVersion = 2, kZstdVersion = 1;
constexpr std::uint8_t kShuffle = 0x1, kStored = 0x2, kBitshuffle = 0x4, kFuture = 0x8,
                       kDontSplit = 0x10;
constexpr std::int32_t kMinBuffer = 128, kMaxSplits = 16, kMaxBlock = (INT32_MAX - 64 * 4) / 3;

std::int32_t load32(const std::byte* at) {
  std::int32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

void store32(std::byte* at, std::int32_t value) { std::memcpy(at, &value, 4); }

template <std::size_t kSize>
void unshuffle_words(std::size_t count, const std::byte* __restrict src,
                     std::byte* __restrict dst) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) dst[i * kSize + j] = src[j * count + i];
  }
}

template <std::size_t kSize>
void shuffle_words(std::size_t count, const std::byte* __restrict src, std::byte* __restrict dst) {
  for (std::size_t j = 0; j < kSize; ++j) {
    for (std::size_t i = 0; i < count; ++i) dst[j * count + i] = src[i * kSize + j];
  }
}

void unshuffle(std::size_t typesize, std::size_t size, const std::byte* src, std::byte* dst) {
  const std::size_t count = size / typesize;
  if (typesize == 2) {
    unshuffle_words<2>(count, src, dst);
  } else if (typesize == 4) {
    unshuffle_words<4>(count, src, dst);
  } else if (typesize == 8) {
    unshuffle_words<8>(count, src, dst);
  } else {
    for (std::size_t j = 0; j < typesize; ++j) {
      for (std::size_t i = 0; i < count; ++i) dst[i * typesize + j] = src[j * count + i];
    }
  }
  std::memcpy(dst + count * typesize, src + count * typesize, size - count * typesize);
}

void shuffle(std::size_t typesize, std::size_t size, const std::byte* src, std::byte* dst) {
  const std::size_t count = size / typesize;
  if (typesize == 2) {
    shuffle_words<2>(count, src, dst);
  } else if (typesize == 4) {
    shuffle_words<4>(count, src, dst);
  } else if (typesize == 8) {
    shuffle_words<8>(count, src, dst);
  } else {
    for (std::size_t j = 0; j < typesize; ++j) {
      for (std::size_t i = 0; i < count; ++i) dst[j * count + i] = src[i * typesize + j];
    }
  }
  std::memcpy(dst + count * typesize, src + count * typesize, size - count * typesize);
}

// compute_blocksize of c-blosc for zstd, which it never splits.
std::int32_t block_size_for(int level, std::int32_t typesize, std::int32_t size,
                            std::int32_t forced) {
  if (size < typesize) return 1;
  std::int64_t block = size;
  if (forced != 0) {
    block = std::clamp(forced, kMinBuffer, kMaxBlock);
  } else if (size >= 32 * 1024) {
    static constexpr std::array<int, 10> kKib{16, 32, 64, 128, 256, 256, 512, 512, 512, 1024};
    block = std::int64_t{kKib[static_cast<std::size_t>(level)]} * 1024;
  }
  block = std::min<std::int64_t>(block, size);
  if (block > typesize) block = block / typesize * typesize;
  return static_cast<std::int32_t>(block);
}

// blosc's levels 1-9 in zstd's 1-22 (zstd_wrap_compress of c-blosc).
int zstd_level(int level) {
  if (level >= 9) return ZSTD_maxCLevel();
  return level == 8 ? ZSTD_maxCLevel() - 2 : 2 * level - 1;
}

struct Block {
  std::size_t begin, size;
  bool leftover;
};

Block block_at(std::size_t index, std::size_t block_size, std::size_t total) {
  const std::size_t begin = index * block_size;
  const std::size_t size = std::min(block_size, total - begin);
  return {begin, size, size != block_size};
}

// Decodes the streams of one block, `size` bytes in all, behind each other into `out`.
void decode_streams(std::span<const std::byte> frame, std::size_t at, std::size_t streams,
                    std::size_t size, std::byte* out) {
  const std::size_t each = size / streams;
  for (std::size_t stream = 0; stream < streams; ++stream) {
    if (at + 4 > frame.size())
      fail(ErrorCode::corrupt, "codec blosc: a block begins at byte {}, past the end", at);
    const std::int32_t packed = load32(frame.data() + at);
    at += 4;
    if (packed < 0 || static_cast<std::size_t>(packed) > frame.size() - at) {
      fail(ErrorCode::corrupt, "codec blosc: the block at byte {} has {} bytes, {} are left",
           at - 4, packed, frame.size() - at);
    }
    if (static_cast<std::size_t>(packed) == each) {
      std::memcpy(out, frame.data() + at, each);
    } else {
      const std::size_t got = ZSTD_decompressDCtx(zstd_decompressor(), out, each, frame.data() + at,
                                                  static_cast<std::size_t>(packed));
      if (ZSTD_isError(got) != 0) {
        fail(ErrorCode::corrupt, "codec blosc: the block at byte {}: {}", at - 4,
             ZSTD_getErrorName(got));
      }
      if (got != each) {
        fail(ErrorCode::corrupt, "codec blosc: the block at byte {} gives {} bytes, expected {}",
             at - 4, got, each);
      }
    }
    at += static_cast<std::size_t>(packed);
    out += each;
  }
}

void store_header(std::byte* out, std::uint8_t flags, std::int32_t typesize, std::size_t size,
                  std::int32_t block, std::size_t frame) {
  constexpr auto kZstd = static_cast<std::uint8_t>(BloscHeader::Format::zstd);
  const std::array<std::uint8_t, 4> head{kFrameVersion, kZstdVersion,
                                         static_cast<std::uint8_t>(flags | kDontSplit | kZstd << 5),
                                         static_cast<std::uint8_t>(typesize)};
  std::memcpy(out, head.data(), 4);
  store32(out + 4, static_cast<std::int32_t>(size));
  store32(out + 8, block);
  store32(out + 12, static_cast<std::int32_t>(frame));
}

// Compresses one block behind `at`; returns the bytes used, with the size in front.
std::size_t encode_block(std::span<const std::byte> block, int level, std::vector<std::byte>& out,
                         std::size_t at) {
  const std::size_t packed =
      ZSTD_compressCCtx(zstd_compressor(), out.data() + at + 4, out.size() - at - 4, block.data(),
                        block.size(), level);
  std::size_t size = packed;
  if (ZSTD_isError(packed) != 0 || packed >= block.size()) {
    std::memcpy(out.data() + at + 4, block.data(), block.size());
    size = block.size();
  }
  store32(out.data() + at, static_cast<std::int32_t>(size));
  return size + 4;
}

}  // namespace

BloscHeader BloscHeader::parse(std::span<const std::byte> frame) {
  if (frame.size() < kHeaderBytes) {
    fail(ErrorCode::corrupt, "codec blosc: {} bytes found, a frame has at least {}", frame.size(),
         kHeaderBytes);
  }
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(frame[at]); };
  BloscHeader header;
  const std::uint8_t flags = byte(2);
  header.shuffle = (flags & kShuffle) != 0;
  header.stored = (flags & kStored) != 0;
  header.bitshuffle = (flags & kBitshuffle) != 0;
  header.typesize = byte(3);
  header.size = load32(frame.data() + 4);
  header.block_size = load32(frame.data() + 8);
  header.frame_size = load32(frame.data() + 12);
  header.format = static_cast<Format>(flags >> 5);
  header.split = (flags & kDontSplit) == 0 && header.typesize <= kMaxSplits &&
                 header.typesize > 0 && header.block_size / header.typesize >= kMinBuffer;
  const bool sizes =
      header.size >= 0 && header.typesize > 0 &&
      static_cast<std::size_t>(header.frame_size) == frame.size() &&
      (header.size == 0 || (header.block_size > 0 && header.block_size <= kMaxBlock &&
                            header.block_size <= header.size));
  if (byte(0) != kFrameVersion || (flags & kFuture) != 0 || (flags >> 5) > 4 || !sizes) {
    fail(ErrorCode::corrupt,
         "codec blosc: the header is damaged (version {}, flags {:#x}, {} bytes of {} in blocks of "
         "{}; {} "
         "bytes found)",
         byte(0), flags, header.frame_size, header.size, header.block_size, frame.size());
  }
  if (header.stored && frame.size() != kHeaderBytes + static_cast<std::size_t>(header.size)) {
    fail(ErrorCode::corrupt, "codec blosc: {} stored bytes found, expected {}",
         frame.size() - kHeaderBytes, header.size);
  }
  return header;
}

void decode_blosc_zstd(std::span<const std::byte> frame, const BloscHeader& header,
                       ByteRange needed, std::byte* out) {
  const auto total = static_cast<std::size_t>(header.size);
  const auto block_size = static_cast<std::size_t>(header.block_size);
  const auto typesize = static_cast<std::size_t>(header.typesize);
  if (needed.begin >= needed.end || total == 0) return;
  const std::size_t blocks = (total + block_size - 1) / block_size;
  if (kHeaderBytes + 4 * blocks > frame.size()) {
    fail(ErrorCode::corrupt, "codec blosc: {} blocks do not fit into {} bytes", blocks,
         frame.size());
  }
  const bool filtered = header.shuffle && typesize > 1;
  Scratch shuffled(filtered ? std::min(block_size, total) : 0);
  const std::size_t last = (std::min(needed.end, total) + block_size - 1) / block_size;
  for (std::size_t index = needed.begin / block_size; index < last; ++index) {
    const Block block = block_at(index, block_size, total);
    const std::int32_t start = load32(frame.data() + kHeaderBytes + 4 * index);
    if (start < 0) fail(ErrorCode::corrupt, "codec blosc: block {} begins at {}", index, start);
    const std::size_t streams = header.split && !block.leftover ? typesize : 1;
    std::byte* target = filtered ? shuffled.data() : out + block.begin;
    decode_streams(frame, static_cast<std::size_t>(start), streams, block.size, target);
    if (filtered) unshuffle(typesize, block.size, shuffled.data(), out + block.begin);
  }
}

void encode_blosc_zstd(std::span<const std::byte> data, int level, bool shuffled,
                       std::int32_t typesize, std::int32_t forced_block_size,
                       std::vector<std::byte>& out) {
  const std::size_t total = data.size();
  const std::int32_t block_size =
      block_size_for(level, typesize, static_cast<std::int32_t>(total), forced_block_size);
  const std::size_t step = static_cast<std::size_t>(std::max(block_size, 1));
  const std::size_t blocks = (total + step - 1) / step;
  const std::uint8_t flags = shuffled ? kShuffle : 0;
  std::size_t at = kHeaderBytes + 4 * blocks;
  if (level > 0 && total >= static_cast<std::size_t>(kMinBuffer)) {
    out.resize(at + blocks * (4 + ZSTD_compressBound(step)));
    const bool filtered = shuffled && typesize > 1;
    Scratch scratch(filtered ? step : 0);
    for (std::size_t index = 0; index < blocks; ++index) {
      const Block block = block_at(index, step, total);
      std::span<const std::byte> piece = data.subspan(block.begin, block.size);
      if (filtered) {
        shuffle(static_cast<std::size_t>(typesize), block.size, piece.data(), scratch.data());
        piece = {scratch.data(), block.size};
      }
      store32(out.data() + kHeaderBytes + 4 * index, static_cast<std::int32_t>(at));
      at += encode_block(piece, zstd_level(level), out, at);
    }
  }
  if (level == 0 || total < static_cast<std::size_t>(kMinBuffer) || at >= kHeaderBytes + total) {
    out.resize(kHeaderBytes + total);
    store_header(out.data(), flags | kStored, typesize, total, block_size, out.size());
    if (total > 0) std::memcpy(out.data() + kHeaderBytes, data.data(), total);
    return;
  }
  store_header(out.data(), flags, typesize, total, block_size, at);
  out.resize(at);
}

}  // namespace headrace::zarr
