#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Where the inner chunks of a shard lie: two numbers each, in C order of the inner grid.
struct ShardIndex {
  std::vector<std::uint64_t> offset_and_size;

  bool has(std::size_t chunk) const noexcept {
    return offset_and_size[2 * chunk] != UINT64_MAX || offset_and_size[2 * chunk + 1] != UINT64_MAX;
  }
  /// Bytes of a stored chunk. Errors: corrupt (they reach past the end of the shard).
  ByteRange range(std::size_t chunk, std::uint64_t shard_size) const;
};

/// Codec "sharding_indexed": inner chunks and an index of their places. Read with the index at
/// either end and inner chunks in any order; written with them in Z-order (Morton) of their grid
/// position. Inner chunks that are all fill value are not stored.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html
/// example        {"name": "sharding_indexed", "configuration": {"chunk_shape": [3, 256, 256],
///                "codecs": [{"name": "bytes"}], "index_location": "end", "index_codecs":
///                [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}
/// errors         malformed (shapes that do not divide), unsupported (an index of variable size or
/// too large)
class ShardingIndexed : public ArrayBytesCodec {
 public:
  ShardingIndexed(CodecConfig& config, const ChunkSpec& shard);

  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const override;
  void encode(const View& src, std::vector<std::byte>& out) const override;

  const CodecChain& inner() const noexcept { return *inner_; }
  int rank() const noexcept { return shard_.rank; }
  /// Inner chunks along each axis, and in all.
  const Index& grid() const noexcept { return grid_; }
  std::size_t chunk_count() const noexcept { return chunk_count_; }

  /// Bytes at a shard's end in which its index lies; 0: it lies at the beginning.
  std::size_t index_tail_bytes() const noexcept { return index_at_end_ ? index_size_ : 0; }
  /// The bytes of the index in a shard of this size. Errors: corrupt (the shard is smaller than its
  /// index).
  ByteRange index_range(std::uint64_t shard_size) const;
  std::size_t index_bytes() const noexcept { return index_size_; }
  /// offset_and_size: as ShardIndex has them.
  std::vector<std::byte> encode_index(std::span<std::uint64_t> offset_and_size) const;
  /// Errors: corrupt.
  ShardIndex parse_index(std::span<const std::byte> bytes) const;
  /// Encodes one inner chunk of a shard in memory; empty when it is all fill value.
  /// valid: how many elements exist along each axis of the shard; the rest is fill value.
  void encode_chunk(std::size_t chunk, const View& shard, const Index& valid,
                    std::vector<std::byte>& out) const;
  /// Joins encoded inner chunks (C order; empty: none) to a shard; the result is empty when there
  /// are none. Each begins at a multiple of `alignment` bytes of the shard, after zeros.
  std::vector<std::byte> assemble(std::span<const std::span<const std::byte>> chunks,
                                  std::size_t alignment = 1) const;

 private:
  ChunkSpec shard_;
  std::shared_ptr<const CodecChain> inner_, index_;
  std::size_t index_size_ = 0;
  bool index_at_end_ = true;
  Index grid_{};
  std::size_t chunk_count_ = 0;
};

std::unique_ptr<ArrayBytesCodec> make_sharding_indexed(CodecConfig& config, const ChunkSpec& spec);

}  // namespace headrace::zarr
