#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/zarr/codec/codec.hpp"

namespace headrace::zarr {

/// The head of a blosc 1 frame.
///
/// specification  https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
struct BloscHeader {
  enum class Format { blosclz, lz4, snappy, zlib, zstd };  ///< the numbers that stand in the frame
  bool shuffle = false, bitshuffle = false, stored = false, split = false;
  Format format = Format::zstd;
  std::int32_t typesize = 1, size = 0, block_size = 0, frame_size = 0;

  /// Errors: corrupt (not a frame; a size that cannot be).
  static BloscHeader parse(std::span<const std::byte> frame);
};

/// Decodes the blocks of a zstd frame that cover `needed` into `out`, which has room for
/// `header.size` bytes. Blocks are zstd frames of their own, so a part of a chunk costs a part of
/// the time; one context serves all of them. Bit-shuffled frames are left to libblosc. Errors:
/// corrupt.
void decode_blosc_zstd(std::span<const std::byte> frame, const BloscHeader& header,
                       ByteRange needed, std::byte* out);

/// Writes a frame of zstd blocks, with or without byte shuffle: what libblosc writes at
/// the same settings, but with one context for all blocks.
/// block_size: 0 takes libblosc's for the level.
void encode_blosc_zstd(std::span<const std::byte> data, int level, bool shuffle,
                       std::int32_t typesize, std::int32_t block_size, std::vector<std::byte>& out);

}  // namespace headrace::zarr
