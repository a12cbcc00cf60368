#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::zarr {

/// Writes chunks of one array. Each shard (or chunk) becomes one object, put atomically; the same
/// elements give the same bytes whatever the number of threads. Inner chunks lie in Z-order
/// (Morton) of their grid position. Chunks in which every element is the fill value are not stored;
/// a shard without chunks is not stored. Different shards may be written from different threads at
/// once.
class ArrayWriter {
 public:
  /// Writes zarr.json only in `finish`, so an interrupted array is not taken for a whole one.
  ArrayWriter(std::shared_ptr<storage::Store> store, std::string path, ArrayMetadata metadata);
  ~ArrayWriter();

  /// From now on inner chunks begin at multiples of `bytes` in their shards, with zeros between
  /// them: 4096 for GPUDirect Storage, which reads whole blocks of a disk. Any reader reads such
  /// shards. Without sharding each chunk is an object, and nothing changes. Errors: usage (not a
  /// power of two up to 1 MiB).
  void align_chunks(std::size_t bytes);

  /// Grid of shards (or chunks), one count for each axis.
  std::vector<std::int64_t> grid() const;
  /// Writes a shard from elements in memory: `src` is element (0,…,0) of the shard, `strides_bytes`
  /// in array order. The shard is `metadata.chunk_shape`; beyond the array's edge only existing
  /// elements are read, the rest is fill. Inner chunks are encoded on `pool` when it is given.
  /// Returns the bytes stored (0: nothing to store).
  std::uint64_t write_shard(const std::vector<std::int64_t>& shard, const std::byte* src,
                            const std::vector<std::int64_t>& strides_bytes,
                            ThreadPool* pool = nullptr);
  /// Writes a shard from inner chunks that are already encoded (JPEG passthrough); an empty span is
  /// a missing chunk. `chunks` are in C order of the shard's inner grid. For an array without
  /// sharding: its one chunk.
  std::uint64_t write_encoded_shard(const std::vector<std::int64_t>& shard,
                                    std::span<const std::span<const std::byte>> chunks);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::zarr
