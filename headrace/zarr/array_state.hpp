#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/zarr/array.hpp"
#include "headrace/zarr/codec/sharding_indexed.hpp"

namespace headrace::zarr {

/// The state of an open array; for the read path alone.
struct Array::State {
  std::shared_ptr<const storage::Store> store;
  std::string path;
  ArrayMetadata metadata;
  std::shared_ptr<const CodecChain> chain;
  const ShardingIndexed* sharding = nullptr;  ///< null: chunks are read whole
  std::uint64_t number = 0;                   ///< of this array in this process
  int rank = 0;
  Index shape{}, inner_shape{};
  Index inner_grid{};  ///< inner chunks of a chunk along each axis; ones without sharding
  std::vector<std::int64_t> inner_chunk_shape;
  std::string table_key, pixels_key;   ///< where chunks lie in another object; empty: they do not
  std::shared_ptr<const Array> finer;  ///< null: pixels are no averages

  /// Decodes the unit that is read.
  const CodecChain& unit() const noexcept {
    return sharding != nullptr ? sharding->inner() : *chain;
  }
  bool by_table() const noexcept { return !table_key.empty(); }
  const State& finer_state() const noexcept { return *finer->state_; }
  /// Bytes of the table in which the index of a shard lies.
  ByteRange table_range(const Index& chunk) const;
  std::string metadata_key() const { return metadata_key_of(path); }
  static std::string metadata_key_of(const std::string& path) {
    return path.empty() ? "zarr.json" : path + "/zarr.json";
  }
  std::string key_of(const Index& chunk) const;
  /// "chunk c/0/1 of /store/array", with the inner chunk where there is one.
  std::string describe(const Index& chunk, std::size_t inner) const;
};

}  // namespace headrace::zarr
