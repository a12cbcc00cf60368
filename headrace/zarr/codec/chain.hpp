#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/zarr/codec/codec.hpp"
#include "headrace/zarr/codec/transpose.hpp"

namespace headrace::zarr {

class ShardingIndexed;

/// The codecs of one chunk, prepared for its shape and data type: array→array codecs, one
/// array→bytes codec, bytes→bytes codecs. `prepare` finds every error of the metadata; `decode`
/// fails only for damaged data. Immutable, safe from any thread.
class CodecChain {
 public:
  /// codecs: the list of zarr.json. origin: the name in errors.
  /// Errors: malformed, unsupported (unknown codec, a chunk larger than kMaxChunkBytes).
  static std::shared_ptr<const CodecChain> prepare(const Json& codecs, const ChunkSpec& spec,
                                                   const std::string& origin);

  const ChunkSpec& spec() const noexcept { return spec_; }
  /// Decodes the elements of `box` into `dst`, whose element (0, …) is the box's first. Errors:
  /// corrupt.
  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const;
  /// Encodes a whole chunk.
  void encode(const View& src, std::vector<std::byte>& out) const;
  /// Strides, by array axis, of a chunk that lies in memory in stored order: such a chunk is
  /// encoded without a copy.
  Index stored_strides() const noexcept;
  std::optional<std::size_t> fixed_size() const;
  /// The stored order of the axes.
  const AxisOrder& order() const noexcept { return order_; }
  /// Empty when `split` works on such chunks; else the codec that only the host decodes.
  std::string host_only() const;
  bool is_jpeg() const { return array_bytes_->packing() == StreamCodec::jpeg; }
  /// The work of decoding `box`, as far as it can be known without decoding; checksums are checked.
  /// The decoded bytes are the chunk's elements in stored order. Errors: corrupt; unsupported
  /// (codecs, or a chunk whose streams only the host decodes).
  void split(std::span<const std::byte> encoded, const Box& box, ChunkStreams& out) const;
  /// Whether a chunk's one stream follows from its size alone: plain elements or one zstd frame,
  /// followed by crc32c. Then `split_unseen` finds it without looking at its bytes, which need not
  /// lie in the host's memory; the caller checks the checksum. Errors: corrupt (the size).
  bool splits_unseen() const;
  void split_unseen(std::span<const std::byte> encoded, ChunkStreams& out) const;
  /// The sharding codec, where its inner chunks can be read by byte range: no codec follows it and
  /// no transpose comes before it.
  const ShardingIndexed* sharding() const noexcept;

 private:
  CodecChain(const ChunkSpec& spec) : spec_(spec), order_(spec.rank) {}

  // What goes into each bytes→bytes codec, as far as it is known.
  std::vector<std::optional<std::size_t>> decoded_sizes() const;

  ChunkSpec spec_;
  AxisOrder order_;
  std::unique_ptr<ArrayBytesCodec> array_bytes_;
  std::string array_bytes_name_;
  std::vector<std::unique_ptr<BytesBytesCodec>> bytes_bytes_;
};

}  // namespace headrace::zarr
