#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/decode_plan.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::zarr {

/// Columns [begin, end) of one row that a reader will look at.
struct RowSpan {
  std::int32_t begin = 0, end = 0;
};

/// A region of an array and where its elements go.
struct RegionRead {
  std::vector<std::int64_t>
      origin;  ///< first index an axis; may lie outside: reads as the fill value
  std::vector<std::int64_t> shape;
  std::byte* dst = nullptr;                 ///< element (0, …, 0)
  std::vector<std::int64_t> strides_bytes;  ///< of dst, one an axis in array order: (c,y,x) into
                                            ///< interleaved rows is {1, row, 3}
  /// Optional, for arrays whose last two axes are (y, x): one span for each row of the region.
  /// Chunks that no span touches are neither read nor decoded, and elements outside the spans are
  /// left undefined.
  std::span<const RowSpan> row_spans;
};

/// An open Zarr v3 array. Immutable and safe from any thread; shard indexes are kept in a bounded
/// cache.
class Array {
 public:
  /// Errors: not_found, malformed, unsupported; each names the array.
  static std::shared_ptr<const Array> open(std::shared_ptr<const storage::Store> store,
                                           const std::string& path);
  ~Array();

  const ArrayMetadata& metadata() const noexcept;
  const std::string& path() const noexcept;
  /// The unit that is read and decoded: the inner chunk of a shard, or the chunk.
  const std::vector<std::int64_t>& inner_chunk_shape() const noexcept;

  /// Empty when BatchRead::plan_decode takes this array's codecs; else which of them it does not.
  std::string host_only() const;
  /// Whether its chunks are JPEGs, which decoders decode with differences of some levels.
  bool is_jpeg() const noexcept;
  /// Whether BatchRead::locate takes its chunks: elements as they are or zstd, with crc32c behind.
  bool is_read_unseen() const;

  /// Reads one region on the calling thread. Errors: corrupt (names chunk, bytes and check), io,
  /// usage (shape).
  void read(const RegionRead& region) const;

 private:
  friend class BatchRead;
  friend class ReadPlan;
  struct State;
  explicit Array(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// What a batch of reads cost. Times are summed over threads.
struct ReadStats {
  std::uint64_t bytes_read = 0, ranges_wanted = 0, ranges_issued = 0, chunks_decoded = 0;
  std::int64_t read_ns = 0, decode_ns = 0;
  ReadStats& operator+=(const ReadStats& other);
};

/// The reads of a whole batch, planned together: `add` every region, `fetch` once (byte ranges of
/// all of them sorted by object and offset, neighbours merged, issued together), then `decode` each
/// region, on any thread, in any order. Reusable after `clear`; keeps its memory. One object for
/// one batch at a time.
class BatchRead {
 public:
  BatchRead();
  ~BatchRead();
  BatchRead(BatchRead&&) noexcept;
  BatchRead& operator=(BatchRead&&) noexcept;

  std::size_t add(std::shared_ptr<const Array> array, RegionRead region);
  void fetch(ThreadPool& pool);
  /// The other way to read: finds what `fetch` would read, without reading it, for who reads files
  /// into other memory than the host's. In whole blocks of 4096 bytes, as far as the file goes;
  /// `at` counts bytes of encoded(), and is a multiple of that too. Only plan_decode, or fetch, may
  /// follow. Errors: unsupported (chunks whose streams do not show unseen; an object that is no
  /// local file); else those of single reads are kept for plan_decode.
  struct FileRange {
    std::string path;
    std::uint64_t offset = 0, size = 0, at = 0;
  };
  std::vector<FileRange> locate(ThreadPool& pool);
  /// Errors: the same region always fails with the same error, whatever the threads.
  void decode(std::size_t region);
  /// The same into other memory than `add` was given, of the same strides: a worker's own buffer,
  /// that stays in its cache.
  void decode(std::size_t region, std::byte* dst);
  /// The other way: what `decode` of every region would do, as a list for a decoder that takes many
  /// streams at once (decode_plan.hpp), after `fetch`. Checksums are checked here, on `pool`.
  /// After `locate` the plan has checks instead. Region i goes to byte destinations[i] of the
  /// decoder's windows; the dst it was added with does
  /// not matter. Errors: corrupt, io (the first chunk's, whatever the threads); unsupported (codecs
  /// or a chunk that only `decode` takes).
  void plan_decode(ThreadPool& pool, std::span<const std::uint64_t> destinations, DecodePlan& out);
  /// Which chunk that is: array, chunk and bytes, for errors met while decoding it.
  std::string describe(const DecodePlan::Chunk& chunk) const;
  /// Lets `fetch` put the encoded bytes into memory of the caller's, pinned memory for example:
  /// `memory` is asked once a fetch for a number of bytes, which stay until the next.
  void read_into(std::function<std::byte*(std::size_t)> memory);
  /// The encoded bytes of the last fetch.
  const std::byte* encoded() const noexcept;
  ReadStats stats() const;
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::zarr
