#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headrace/storage/store.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::zarr {

/// Where one chunk lies in an object.
struct TileRange {
  std::uint64_t offset = 0, size = 0;  ///< size 0: there is no such chunk
};

/// Writes an array whose chunks are ranges of an object that lies elsewhere: its zarr.json, and its
/// table (docs/formats.md, "Pixels by reference"): for each shard of the grid, in C order, the
/// shard's index as codec sharding_indexed encodes it. So a reader of a patch reads some KB of it.
///
/// metadata  sharded, with other_pixels of kind tile_table
/// tiles     of each inner chunk of the array, in C order of its grid
/// errors    usage (another number of tiles, no such metadata), those of Store::put
void write_tile_table(const std::shared_ptr<storage::Store>& store, const std::string& path,
                      const ArrayMetadata& metadata, std::span<const TileRange> tiles);

/// Writes an array of the averages of another: its zarr.json. metadata: with other_pixels of kind
/// average.
void write_average(const std::shared_ptr<storage::Store>& store, const std::string& path,
                   const ArrayMetadata& metadata);

}  // namespace headrace::zarr
