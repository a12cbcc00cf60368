#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/zarr/codec/blosc_filter.hpp"
#include "headrace/zarr/codec/blosc_stream.hpp"
#include "headrace/zarr/codec/codec.hpp"

namespace headrace::zarr {

/// The head of a blosc 1 frame.
///
/// specification  https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
struct BloscHeader {
  enum class Format { blosclz, lz4, snappy, zlib, zstd };  ///< the numbers in the frame
  bool shuffle = false, bitshuffle = false, stored = false, split = false;
  Format format = Format::zstd;
  std::int32_t typesize = 1, size = 0, block_size = 0, frame_size = 0;

  /// Errors: corrupt (not a frame; a size that cannot be).
  static BloscHeader parse(std::span<const std::byte> frame);
};

/// Whether `decode_blosc` takes such frames: zstd or LZ4, with no filter, byte shuffle, or bit
/// shuffle of 16-bit elements.
bool decodes_blosc(const BloscHeader& header) noexcept;

/// Decodes the blocks of a frame that cover `needed` into `out`, which has room for `header.size`
/// bytes. Blocks are compressed on their own, so a part of a chunk costs a part of the time; one
/// context serves all of them. Errors: corrupt.
void decode_blosc(std::span<const std::byte> frame, const BloscHeader& header, ByteRange needed,
                  std::byte* out);

/// The streams of those blocks, and their filter; nothing is decoded. The streams of a block with
/// several follow each other. Errors: corrupt, as far as it shows; unsupported (a zstd stream that
/// only libzstd takes).
void split_blosc(std::span<const std::byte> frame, const BloscHeader& header, ByteRange needed,
                 ChunkStreams& out);

/// How a frame is written. block_size: 0 takes libblosc's for zstd at this level.
struct BloscFormat {
  BloscCompressor compressor = BloscCompressor::zstd;
  int level = 5;  ///< blosc's, 0 to 9
  BloscFilter filter = BloscFilter::none;
  std::int32_t typesize = 1, block_size = 0;
};

/// Writes a frame that any blosc reads: blocks of one stream each. With zstd and without bit
/// shuffle the frame equals what libblosc writes at the same settings, but one context serves all
/// blocks. Bit shuffle: typesize 2 alone.
void encode_blosc(std::span<const std::byte> data, const BloscFormat& format,
                  std::vector<std::byte>& out);

}  // namespace headrace::zarr
