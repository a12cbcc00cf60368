#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/zarr/array_state.hpp"
#include "headrace/zarr/averaged_region.hpp"
#include "headrace/zarr/decode_plan.hpp"

namespace headrace::zarr {

/// The reads of some regions, planned together: the implementation of BatchRead and Array::read.
/// See BatchRead for the contract.
class ReadPlan {
 public:
  /// `array` must live until `clear`. Errors: usage (the region does not fit the array).
  std::size_t add(const Array::State& array, const RegionRead& region);
  /// pool: null reads on the calling thread. Errors of single reads are kept for `decode`.
  void fetch(ThreadPool* pool);
  /// As BatchRead's.
  std::vector<BatchRead::FileRange> locate(ThreadPool* pool);
  void decode(std::size_t region);
  void decode(std::size_t region, std::byte* dst);
  /// The work of decoding all regions, for a decoder of many streams at once; `fetch` was called
  /// before. Region i goes to byte destinations[i] of the windows, with its strides. Errors: those
  /// that `decode` finds before decompressing, from the first chunk that has one; unsupported (a
  /// codec or chunk that only the host decodes).
  void plan_decode(ThreadPool* pool, std::span<const std::uint64_t> destinations, DecodePlan& out);
  /// "chunk c/0/1 of …, inner chunk 0/3 (bytes 17-99)".
  std::string describe(std::size_t source, std::size_t inner, ByteRange range) const;
  /// Where `fetch` puts the encoded bytes: called with a size, gives memory that stays until the
  /// next fetch. Empty: fetch uses its own memory.
  void read_into(std::function<std::byte*(std::size_t)> memory) { lender_ = std::move(memory); }
  const std::byte* encoded() const noexcept { return encoded_; }
  ReadStats stats() const;
  /// Forgets the regions, keeps the memory.
  void clear();
  /// Frees the memory for encoded bytes if there is more of it than this.
  void release_above(std::size_t bytes);

 private:
  struct Region {
    const Array::State* array = nullptr;
    RegionRead wanted;
    /// Of an array of averages: what `wanted`, a region of the array beneath, is read for.
    std::optional<AveragedRegion> averaged;
    std::byte* dst = nullptr;
    bool outside = false;  ///< some elements lie outside the array
    std::size_t first_piece = 0, last_piece = 0;
    ReadStats stats;
  };
  /// A stored object that is read from: a shard or a chunk.
  struct Source {
    const Array::State* array = nullptr;
    Index chunk{};
    storage::RequestCost cost;                      ///< of reading the object
    std::shared_ptr<const storage::Object> object;  ///< null: not stored
    std::uint64_t size_bytes = 0;                   ///< of the object
    std::vector<std::byte> tail;                    ///< with its index, until it was parsed
    std::shared_ptr<const ShardIndex> index;        ///< null without sharding
    std::optional<Error> error;
    ReadStats stats;
  };
  /// The part of one chunk that a region takes.
  struct Piece {
    std::size_t source = 0, inner = 0;
    Box box;               ///< in the chunk
    Index at{};            ///< of the box's first element, in the region
    ByteRange range;       ///< in the object
    std::size_t read = 0;  ///< index into reads_; kNone: fill value
    std::optional<Error> error;
  };
  struct Read {
    std::size_t source = 0;
    ByteRange range;
    std::size_t offset = 0;  ///< in memory_
    std::optional<Error> error;
    std::int64_t read_ns = 0;
  };
  /// The source of one chunk of a decode plan.
  struct Split {
    std::size_t piece = 0;  ///< the first piece that needs it
    Box box;                ///< all that pieces need of it
    ChunkStreams streams;
    std::optional<Error> error;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void plan_pieces(Region& region);
  void add_piece(Region& region, const Index& unit, const Box& box, const Index& at);
  void open_sources(ThreadPool* pool);
  void start_open(Source& source, const storage::ReadDone& done) const;
  void take_opened(Source& source) const;
  void place_pieces();
  void plan_reads(ThreadPool* pool);
  void forget_reads();
  std::size_t merge_reads();
  std::size_t widen_to_blocks();
  void take_memory(std::size_t size_bytes);
  void run_reads(ThreadPool* pool);
  const Error* error_of(const Piece& piece) const;
  std::vector<std::size_t> find_splits();
  void split_chunk(Split& split) const;
  void place_region(const Region& region, std::uint64_t at, std::span<const std::size_t> split_of,
                    std::span<const Placement> likes, DecodePlan& out) const;
  void decode_pieces(Region& region, std::byte* dst);
  void decode_piece(const Region& region, const Piece& piece, std::byte* dst) const;

  std::vector<Region> regions_;
  std::vector<Source> sources_;
  std::map<std::pair<std::uint64_t, Index>, std::size_t> source_of_;  ///< by array and chunk
  std::vector<Piece> pieces_;
  std::vector<Read> reads_;
  std::vector<std::size_t> order_;
  std::vector<Split> splits_;
  std::function<std::byte*(std::size_t)> lender_;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* encoded_ = nullptr;  ///< memory_, or what was lent
  bool unseen_ = false;           ///< the host can't look at its bytes
  std::size_t memory_size_ = 0;
  ReadStats fetch_stats_;
};

}  // namespace headrace::zarr
