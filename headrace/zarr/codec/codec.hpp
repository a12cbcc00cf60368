#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"
#include "headrace/core/json.hpp"
#include "headrace/zarr/codec/chunk_streams.hpp"
#include "headrace/zarr/codec/scratch.hpp"
#include "headrace/zarr/codec/strided.hpp"

namespace headrace::zarr {

/// What a codec is prepared for: one chunk.
struct ChunkSpec {
  DType dtype = DType::uint8;
  int rank = 0;
  Index shape{};
  std::vector<std::byte> fill_value;  ///< one element, little-endian
  int shards_around = 0;              ///< sharding codecs that this chunk lies in

  std::int64_t size_bytes() const noexcept {
    return count_elements(rank, shape) * static_cast<std::int64_t>(size_of(dtype));
  }
};

/// The largest chunk that is decoded as one: what blosc can hold, and a bound against hostile
/// metadata.
inline constexpr std::int64_t kMaxChunkBytes = (std::int64_t{1} << 31) - 1 - 4096;

/// Shards in shards in shards … beyond this are refused.
inline constexpr int kMaxShardsAround = 4;

/// Bytes [begin, end) of a stream.
struct ByteRange {
  std::size_t begin = 0, end = 0;
};

/// Turns the elements of a chunk into bytes and back. Prepared once for a ChunkSpec; then `decode`
/// fails only for damaged data (corrupt). Immutable, safe from any thread.
class ArrayBytesCodec {
 public:
  virtual ~ArrayBytesCodec() = default;
  /// Size of the encoded chunk where it does not depend on the elements.
  virtual std::optional<std::size_t> fixed_size() const { return std::nullopt; }
  /// The bytes of the encoded chunk that `decode` of this box looks at; only for codecs with a
  /// fixed size.
  virtual ByteRange needed(const Box&) const { return {0, fixed_size().value_or(0)}; }
  /// Decodes the elements of `box` to `dst`, whose element (0, …) is the box's first.
  virtual void decode(std::span<const std::byte> encoded, const Box& box,
                      const View& dst) const = 0;
  /// Encodes a whole chunk.
  virtual void encode(const View& src, std::vector<std::byte>& out) const = 0;
  /// Whether `split` works: the decoded chunk is then its elements in C order.
  virtual bool splits() const { return false; }
  /// The packing of the one stream that `split` finds.
  virtual StreamCodec packing() const { return StreamCodec::stored; }
  /// Finds what `decode` of the bytes `needed` would decode. Errors: those of decode, as far as
  /// they can be known without decoding.
  virtual void split(std::span<const std::byte> encoded, ByteRange needed,
                     ChunkStreams& out) const {
    (void)encoded, (void)needed, (void)out;
  }
};

/// Turns bytes into other bytes and back, as ArrayBytesCodec.
class BytesBytesCodec {
 public:
  virtual ~BytesBytesCodec() = default;
  virtual std::optional<std::size_t> fixed_size(std::optional<std::size_t> decoded) const {
    (void)decoded;
    return std::nullopt;
  }
  /// Requirements on the decoded stream.
  struct Expect {
    std::optional<std::size_t> size;  ///< exactly, where it is known
    std::size_t limit = 0;            ///< never more than this
    ByteRange needed;                 ///< what will be looked at; where `size` is known
  };
  /// Returns the decoded stream, in which at least the needed bytes are valid: in `out`, or a part
  /// of `encoded`.
  virtual std::span<const std::byte> decode(std::span<const std::byte> encoded,
                                            const Expect& expect, Scratch& out) const = 0;
  virtual void encode(std::span<const std::byte> decoded, std::vector<std::byte>& out) const = 0;
  /// Whether `decode` only checks, and returns a part of what it was given.
  virtual bool only_checks() const { return false; }
  /// The packing of the one stream that makes up every chunk, whatever its bytes. stored: only the
  /// bytes tell.
  virtual StreamCodec packing() const { return StreamCodec::stored; }
  /// As ArrayBytesCodec's. `expect.size` is known. Errors: also unsupported (a stream that only the
  /// host decodes).
  virtual bool splits() const { return false; }
  virtual void split(std::span<const std::byte> encoded, const Expect& expect,
                     ChunkStreams& out) const {
    (void)encoded, (void)expect, (void)out;
  }
};

}  // namespace headrace::zarr
