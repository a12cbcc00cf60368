#pragma once
#include <cstdint>
#include <vector>

#include "headrace/zarr/codec/chunk_streams.hpp"
#include "headrace/zarr/placement.hpp"

namespace headrace::zarr {

/// A batch of reads in the form for a decoder of many streams: which streams to decompress, then
/// where every element goes. Three buffers: `encoded`, as BatchRead::fetch filled it; `decoded`,
/// between the two; and the caller's windows. Made by BatchRead::plan_decode; the order is
///   1. every segment: encoded → decoded;  2. copies: encoded → decoded;
///   3. fills → windows;  4. places: decoded (or encoded, where `packed`) → windows.
/// Within a step the order does not matter. A chunk that several regions touch is decoded once.
struct DecodePlan {
  /// One compressed stream.
  struct Segment {
    StreamCodec codec = StreamCodec::zstd;  ///< never stored
    std::uint32_t chunk = 0;                ///< index in `chunks`
    std::uint64_t offset = 0, size = 0;     ///< in `encoded`
    std::uint64_t decoded_offset = 0, decoded_size = 0;
    /// For a JPEG: interleaved rows of decoded_size / height bytes.
    std::int32_t height = 0, width = 0;
  };
  /// The chunk that a segment comes from, for errors.
  struct Chunk {
    std::uint32_t source = 0;
    std::uint64_t inner = 0, begin = 0, end = 0;
  };
  /// A chunk whose bytes the host has not seen: the crc32c of its bytes, which follows them.
  struct Check {
    std::uint32_t chunk = 0;
    std::uint64_t offset = 0, size = 0;  ///< in `encoded`
  };
  /// Bytes of `encoded` that a GPU reads.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  /// The most unwanted bytes between two ranges that are copied as one: a copy of its own takes a
  /// few microseconds, in which a bus moves about as many (an estimate).
  static constexpr std::uint64_t kCopyGapBytes = 64 << 10;
  /// The needed part of a chunk begins at a multiple of this in `decoded`.
  static constexpr std::uint64_t kAlignment = 16;

  std::vector<Segment> segments;  ///< by codec, then as chunks are first met
  std::vector<Placement> copies, fills, places;
  std::vector<Chunk> chunks;
  std::vector<Check> checks;
  /// Of all streams but JPEGs, which nvJPEG takes from the host's memory; in order, apart.
  std::vector<Range> read_there;
  std::uint64_t encoded_bytes = 0, decoded_bytes = 0;
  /// Every stream lies under a checksum that was right or is in `checks`, so only a decoder's own
  /// fault can make it fail.
  bool proven = true;

  void clear() {
    segments.clear();
    copies.clear();
    fills.clear();
    places.clear();
    chunks.clear();
    checks.clear();
    read_there.clear();
    encoded_bytes = decoded_bytes = 0;
    proven = true;
  }
};

}  // namespace headrace::zarr
