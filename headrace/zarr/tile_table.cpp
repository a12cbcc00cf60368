#include "headrace/zarr/tile_table.hpp"

#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/zarr/array_writer.hpp"
#include "headrace/zarr/codec/chain.hpp"
#include "headrace/zarr/codec/sharding_indexed.hpp"

namespace headrace::zarr {
namespace {

/// Goes on to the next place of a grid; false behind the last.
bool advance(int rank, const Index& grid, Index& at) {
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (++at[axis] < grid[axis]) return true;
    at[axis] = 0;
  }
  return false;
}

}  // namespace

void write_tile_table(const std::shared_ptr<storage::Store>& store, const std::string& path,
                      const ArrayMetadata& metadata, std::span<const TileRange> tiles) {
  const std::string origin = "array " + store->describe(path);
  const auto& other = metadata.other_pixels;
  const int rank = static_cast<int>(metadata.shape.size());
  ChunkSpec spec{metadata.dtype, rank, {}, metadata.fill_value};
  std::copy(metadata.chunk_shape.begin(), metadata.chunk_shape.end(), spec.shape.begin());
  const auto chain = CodecChain::prepare(metadata.codecs, spec, origin);
  const ShardingIndexed* sharding = chain->sharding();
  if (!other || other->kind != OtherPixels::Kind::tile_table || sharding == nullptr)
    fail(ErrorCode::usage, "{}: is not sharded, or has chunks of its own", origin);
  const Index& inner = sharding->grid();
  Index shards{}, all{};
  std::int64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t edge = spec.shape[axis] / inner[axis];
    all[axis] = (metadata.shape[axis] + edge - 1) / edge;
    shards[axis] = (metadata.shape[axis] + spec.shape[axis] - 1) / spec.shape[axis];
    count *= all[axis];
  }
  if (tiles.size() != static_cast<std::size_t>(count))
    fail(ErrorCode::usage, "{}: {} tiles are given, it has {}", origin, tiles.size(), count);
  std::vector<std::byte> table;
  Index shard{};
  do {
    std::vector<std::uint64_t> index(2 * sharding->chunk_count(), UINT64_MAX);
    Index chunk{};
    std::size_t place = 0;
    do {
      std::int64_t tile = 0;
      bool inside = true;
      for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t at = shard[axis] * inner[axis] + chunk[axis];
        inside &= at < all[axis];
        tile = tile * all[axis] + at;
      }
      const TileRange range = inside ? tiles[static_cast<std::size_t>(tile)] : TileRange{};
      if (range.size > 0) {
        index[2 * place] = range.offset;
        index[2 * place + 1] = range.size;
      }
      ++place;
    } while (advance(rank, inner, chunk));
    const std::vector<std::byte> block = sharding->encode_index(index);
    table.insert(table.end(), block.begin(), block.end());
  } while (advance(rank, shards, shard));
  store->put(path + "/" + other->table, table);
  ArrayWriter(store, path, metadata).finish();
}

void write_average(const std::shared_ptr<storage::Store>& store, const std::string& path,
                   const ArrayMetadata& metadata) {
  if (!metadata.other_pixels || metadata.other_pixels->kind != OtherPixels::Kind::average)
    fail(ErrorCode::usage, "array {}: has pixels of its own", store->describe(path));
  ArrayWriter(store, path, metadata).finish();
}

}  // namespace headrace::zarr
