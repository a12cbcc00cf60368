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
      origin;  ///< first index of each axis; what lies outside reads as the fill value
  std::vector<std::int64_t> shape;
  std::byte* dst = nullptr;                 ///< element (0, …, 0)
  std::vector<std::int64_t> strides_bytes;  ///< of dst, one for each axis in array order: (c,y,x)
                                            ///< into interleaved rows is {1, row, 3}
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
  /// The shape of the unit that is read and decoded: the inner chunk of a shard, or the chunk.
  const std::vector<std::int64_t>& inner_chunk_shape() const noexcept;

  /// Empty when BatchRead::plan_decode takes this array's codecs; else the one that it does not
  /// take.
  std::string host_only() const;
  /// Whether its chunks are JPEGs, which decoders decode with differences of a few levels.
  bool is_jpeg() const noexcept;
  /// Whether BatchRead::locate takes its chunks: plain elements or zstd, followed by crc32c.
  bool is_read_unseen() const;

  /// Reads one region on the calling thread. Errors: corrupt (names chunk, bytes and check), io,
  /// usage (shape).
  void read(const RegionRead& region) const;

 private:
  friend class BatchRead;
  friend class AveragedRegion;
  friend class ReadPlan;
  struct State;
  explicit Array(std::unique_ptr<State> state);
  /// averages: how many arrays of averages it is beneath.
  static std::shared_ptr<const Array> open_beneath(std::shared_ptr<const storage::Store> store,
                                                   const std::string& path, int averages);
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
  /// The other way to read: finds what `fetch` would read, without reading it, for callers that
  /// read files into memory other than the host's. Ranges are whole blocks of 4096 bytes, up to the
  /// end of the file; `at` counts bytes of encoded(), and is a multiple of 4096 too. Only
  /// plan_decode, or fetch, may follow. Errors: unsupported (chunks whose streams can't be found
  /// without their bytes; an object that is not a local file); errors of single reads are kept for
  /// plan_decode.
  struct FileRange {
    std::string path;
    std::uint64_t offset = 0, size = 0, at = 0;
  };
  std::vector<FileRange> locate(ThreadPool& pool);
  /// Errors: the same region always fails with the same error, whatever the threads.
  void decode(std::size_t region);
  /// The same into memory other than that given to `add`, with the same strides: a worker's own
  /// buffer, which stays in its cache.
  void decode(std::size_t region, std::byte* dst);
  /// The other way, after `fetch`: what `decode` of every region would do, as a list for a decoder
  /// that takes many streams at once (decode_plan.hpp). Checksums are checked here, on `pool`;
  /// after `locate` the plan lists the checks instead. Region i goes to byte destinations[i] of the
  /// decoder's windows; the dst that it was added with does not matter. Errors: corrupt, io (the
  /// first chunk's, whatever the threads); unsupported (codecs or a chunk that only `decode`
  /// takes).
  void plan_decode(ThreadPool& pool, std::span<const std::uint64_t> destinations, DecodePlan& out);
  /// Names a chunk by array, chunk and bytes, for errors while decoding it.
  std::string describe(const DecodePlan::Chunk& chunk) const;
  /// Lets `fetch` put the encoded bytes into the caller's memory, for example pinned memory: each
  /// fetch asks `memory` once for a number of bytes, which must stay until the next fetch.
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
