#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/zarr/codec/codec.hpp"
#include "headrace/zarr/codec/transpose.hpp"

namespace headrace::zarr {

class ShardingIndexed;

/// The codecs of one chunk, prepared for its shape and data type: array→array codecs, one
/// array→bytes codec, bytes→bytes codecs. Whatever the metadata can get wrong is found by
/// `prepare`; `decode` meets only damaged data. Immutable, safe from any thread.
class CodecChain {
 public:
  /// codecs: the list of zarr.json. origin: what errors name.
  /// Errors: malformed, unsupported (unknown codec, a chunk larger than kMaxChunkBytes).
  static std::shared_ptr<const CodecChain> prepare(const Json& codecs, const ChunkSpec& spec,
                                                   const std::string& origin);

  const ChunkSpec& spec() const noexcept { return spec_; }
  /// Decodes the elements of `box` into `dst`, whose element (0, …) is the box's first. Errors:
  /// corrupt.
  void decode(std::span<const std::byte> encoded, const Box& box, const View& dst) const;
  /// Encodes a whole chunk.
  void encode(const View& src, std::vector<std::byte>& out) const;
  /// Strides, by array axis, of a chunk that lies in memory in stored order: what encodes without a
  /// copy.
  Index stored_strides() const noexcept;
  std::optional<std::size_t> fixed_size() const;
  /// The order in which axes are stored.
  const AxisOrder& order() const noexcept { return order_; }
  /// Empty when `split` works on such chunks; else which codec is the host's alone.
  std::string host_only() const;
  bool is_jpeg() const { return array_bytes_->packing() == StreamCodec::jpeg; }
  /// What decoding `box` means, as far as it shows without decoding; checksums are checked. The
  /// decoded bytes are the chunk's elements in stored order. Errors: corrupt; unsupported (codecs,
  /// or a chunk whose streams only the host decodes).
  void split(std::span<const std::byte> encoded, const Box& box, ChunkStreams& out) const;
  /// Whether a chunk's one stream follows from its size: elements as they are or one zstd frame,
  /// with crc32c behind. Then `split_unseen` finds it without looking at its bytes, which need not
  /// lie in memory of the host; the checksum is the caller's. Errors: corrupt (the size).
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
  std::vector<std::unique_ptr<BytesBytesCodec>> bytes_bytes_;
};

}  // namespace headrace::zarr
