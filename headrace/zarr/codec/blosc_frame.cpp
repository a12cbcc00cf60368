#include "headrace/zarr/codec/blosc_frame.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/zarr/codec/blosc_filter.hpp"
#include "headrace/zarr/codec/blosc_stream.hpp"
#include "headrace/zarr/codec/zstd.hpp"

namespace headrace::zarr {
namespace {

// Names as in c-blosc's blosc.h and blosc.c.
constexpr std::size_t kHeaderBytes = 16;
constexpr std::uint8_t kFrameVersion = 2, kStreamVersion = 1;
constexpr std::uint8_t kShuffle = 0x1, kStored = 0x2, kBitshuffle = 0x4, kFuture = 0x8,
                       kDontSplit = 0x10;
constexpr std::int32_t kMinBuffer = 128, kMaxSplits = 16, kMaxBlock = (INT32_MAX - 64 * 4) / 3;

std::int32_t load32(const std::byte* at) {
  std::int32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

void store32(std::byte* at, std::int32_t value) { std::memcpy(at, &value, 4); }

// compute_blocksize of c-blosc for zstd, whose blocks it never splits; under bit shuffle blocks are
// whole groups of 8 elements.
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

struct Block {
  std::size_t begin, size;
  bool leftover;
};

Block block_at(std::size_t index, std::size_t block_size, std::size_t total) {
  const std::size_t begin = index * block_size;
  const std::size_t size = std::min(block_size, total - begin);
  return {begin, size, size != block_size};
}

// Calls body(packed, place in the frame, place in the block, stored) for each stream of a block,
// which begins at `at` and has `size` bytes in all. Every stream gives `size / streams` bytes.
template <typename Body>
void for_each_stream(std::span<const std::byte> frame, std::size_t at, std::size_t streams,
                     std::size_t size, Body&& body) {
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
    const auto length = static_cast<std::size_t>(packed);
    body(frame.subspan(at, length), at - 4, stream * each, length == each);
    at += length;
  }
}

// Calls body(block, first byte, streams) for the blocks that cover `needed`.
template <typename Body>
void for_each_block(std::span<const std::byte> frame, const BloscHeader& header, ByteRange needed,
                    Body&& body) {
  const auto total = static_cast<std::size_t>(header.size);
  const auto block_size = static_cast<std::size_t>(header.block_size);
  if (needed.begin >= needed.end || total == 0) return;
  const std::size_t blocks = (total + block_size - 1) / block_size;
  if (kHeaderBytes + 4 * blocks > frame.size()) {
    fail(ErrorCode::corrupt, "codec blosc: {} blocks do not fit into {} bytes", blocks,
         frame.size());
  }
  const std::size_t last = (std::min(needed.end, total) + block_size - 1) / block_size;
  for (std::size_t index = needed.begin / block_size; index < last; ++index) {
    const Block block = block_at(index, block_size, total);
    const std::int32_t start = load32(frame.data() + kHeaderBytes + 4 * index);
    if (start < 0) fail(ErrorCode::corrupt, "codec blosc: block {} begins at {}", index, start);
    const bool split = header.split && !block.leftover;
    body(block, static_cast<std::size_t>(start),
         split ? static_cast<std::size_t>(header.typesize) : 1);
  }
}

BloscFilter filter_of(const BloscHeader& header) {
  if (header.bitshuffle) return BloscFilter::bits;
  return header.shuffle && header.typesize > 1 ? BloscFilter::bytes : BloscFilter::none;
}

void store_header(std::byte* out, std::uint8_t flags, const BloscFormat& format, std::size_t size,
                  std::int32_t block, std::size_t frame) {
  const auto code = format.compressor == BloscCompressor::zstd ? BloscHeader::Format::zstd
                                                               : BloscHeader::Format::lz4;
  const std::array<std::uint8_t, 4> head{
      kFrameVersion, kStreamVersion,
      static_cast<std::uint8_t>(flags | kDontSplit | static_cast<std::uint8_t>(code) << 5),
      static_cast<std::uint8_t>(format.typesize)};
  std::memcpy(out, head.data(), 4);
  store32(out + 4, static_cast<std::int32_t>(size));
  store32(out + 8, block);
  store32(out + 12, static_cast<std::int32_t>(frame));
}

// Compresses one block to `at`; returns the bytes used, including the size in front.
std::size_t encode_block(const BloscFormat& format, std::span<const std::byte> block,
                         std::size_t planes, std::vector<std::byte>& out, std::size_t at) {
  std::size_t size =
      encode_stream(format.compressor, format.level, block, planes, std::span(out).subspan(at + 4));
  if (size == 0) {
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
      header.size >= 0 && header.typesize > 0 && header.block_size >= 0 &&
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

bool decodes_blosc(const BloscHeader& header) noexcept {
  using enum BloscHeader::Format;
  return (header.format == zstd || header.format == lz4) &&
         (!header.bitshuffle || header.typesize == 2);
}

void decode_blosc(std::span<const std::byte> frame, const BloscHeader& header, ByteRange needed,
                  std::byte* out) {
  const BloscFilter filter = filter_of(header);
  const bool filtered = filter != BloscFilter::none;
  const bool lz4 = header.format == BloscHeader::Format::lz4;
  Scratch shuffled(filtered ? static_cast<std::size_t>(header.block_size) : 0);
  const auto decode = [&](const Block& block, std::size_t start, std::size_t streams) {
    const std::size_t each = block.size / streams;
    std::byte* target = filtered ? shuffled.data() : out + block.begin;
    for_each_stream(
        frame, start, streams, block.size,
        [&](std::span<const std::byte> packed, std::size_t place, std::size_t at, bool stored) {
          if (stored) {
            std::memcpy(target + at, packed.data(), each);
          } else {
            decode_stream(lz4, packed, place, {target + at, each});
          }
        });
    if (!filtered) return;
    const std::size_t begin = std::max(needed.begin, block.begin) - block.begin;
    const std::size_t end = std::min(needed.end, block.begin + block.size) - block.begin;
    undo_filter(filter, static_cast<std::size_t>(header.typesize), block.size, target, begin, end,
                out + block.begin);
  };
  for_each_block(frame, header, needed, decode);
}

void split_blosc(std::span<const std::byte> frame, const BloscHeader& header, ByteRange needed,
                 ChunkStreams& out) {
  const bool lz4 = header.format == BloscHeader::Format::lz4;
  out.filter = filter_of(header);
  out.typesize = static_cast<std::size_t>(header.typesize);
  out.block_bytes = static_cast<std::size_t>(header.block_size);
  out.size = static_cast<std::size_t>(header.size);
  const auto list = [&](const Block& block, std::size_t start, std::size_t streams) {
    const std::size_t each = block.size / streams;
    if (each * streams != block.size) {
      fail(ErrorCode::corrupt, "codec blosc: a block of {} bytes in {} streams", block.size,
           streams);
    }
    for_each_stream(
        frame, start, streams, block.size,
        [&](std::span<const std::byte> packed, std::size_t place, std::size_t at, bool stored) {
          const StreamCodec codec = stored ? StreamCodec::stored
                                    : lz4  ? StreamCodec::lz4
                                           : StreamCodec::zstd;
          if (codec == StreamCodec::zstd) {
            with_context(fmt::format("codec blosc: the block at byte {}", place),
                         [&] { check_zstd_stream(packed, each); });
          }
          if (packed.empty()) {
            fail(ErrorCode::corrupt, "codec blosc: the block at byte {} is empty", place);
          }
          out.streams.push_back({codec, packed, block.begin + at, each});
        });
  };
  for_each_block(frame, header, needed, list);
}

void encode_blosc(std::span<const std::byte> data, const BloscFormat& format,
                  std::vector<std::byte>& out) {
  const std::size_t total = data.size();
  const auto typesize = static_cast<std::size_t>(format.typesize);
  std::int32_t block_size = block_size_for(format.level, format.typesize,
                                           static_cast<std::int32_t>(total), format.block_size);
  if (format.filter == BloscFilter::bits && block_size > 16) block_size -= block_size % 16;
  const std::size_t step = static_cast<std::size_t>(std::max(block_size, 1));
  const std::size_t blocks = (total + step - 1) / step;
  const std::uint8_t flags = format.filter == BloscFilter::bits    ? kBitshuffle
                             : format.filter == BloscFilter::bytes ? kShuffle
                                                                   : 0;
  const bool store = format.level == 0 || total < static_cast<std::size_t>(kMinBuffer);
  std::size_t at = kHeaderBytes + 4 * blocks;
  if (!store) {
    out.resize(at + blocks * (4 + stream_bound(format.compressor, step)));
    const bool filtered =
        format.filter == BloscFilter::bits || (format.filter == BloscFilter::bytes && typesize > 1);
    Scratch scratch(filtered ? step : 0);
    for (std::size_t index = 0; index < blocks; ++index) {
      const Block block = block_at(index, step, total);
      std::span<const std::byte> piece = data.subspan(block.begin, block.size);
      if (filtered) {
        apply_filter(format.filter, typesize, block.size, piece.data(), scratch.data());
        piece = {scratch.data(), block.size};
      }
      const bool planes = format.filter == BloscFilter::bits && block.size % 16 == 0;
      store32(out.data() + kHeaderBytes + 4 * index, static_cast<std::int32_t>(at));
      at += encode_block(format, piece, planes ? 16 : 0, out, at);
    }
  }
  if (store || at >= kHeaderBytes + total) {
    out.resize(kHeaderBytes + total);
    store_header(out.data(), flags | kStored, format, total, block_size, out.size());
    if (total > 0) std::memcpy(out.data() + kHeaderBytes, data.data(), total);
    return;
  }
  store_header(out.data(), flags, format, total, block_size, at);
  out.resize(at);
}

}  // namespace headrace::zarr
