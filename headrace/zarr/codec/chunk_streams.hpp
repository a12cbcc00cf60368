#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/zarr/codec/blosc_filter.hpp"

namespace headrace::zarr {

/// How a stream is packed. `stored`: its bytes are the decoded ones.
enum class StreamCodec : std::uint8_t { stored, zstd, lz4, jpeg };

/// The parts of one encoded chunk, for a decoder that takes many streams at once: the streams, and
/// what to do with the decoded bytes. Found without decoding anything.
struct ChunkStreams {
  struct Stream {
    StreamCodec codec = StreamCodec::stored;
    std::span<const std::byte> packed;
    std::size_t at = 0, size = 0;  ///< of the decoded bytes, in the chunk
  };
  std::vector<Stream> streams;  ///< those that cover what is needed, in order, without gaps
  /// The filter that blosc put on each block of `block_bytes` (the last one: what is left).
  BloscFilter filter = BloscFilter::none;
  std::size_t typesize = 1, block_bytes = 0;
  std::size_t size = 0;                          ///< of the decoded chunk
  std::int32_t jpeg_height = 0, jpeg_width = 0;  ///< of a JPEG, which is the chunk's only stream
  bool proven = false;  ///< a checksum over the packed bytes was right: they are as written

  void clear() {
    streams.clear();
    filter = BloscFilter::none;
    typesize = 1;
    block_bytes = size = 0;
    jpeg_height = jpeg_width = 0;
    proven = false;
  }
};

}  // namespace headrace::zarr
