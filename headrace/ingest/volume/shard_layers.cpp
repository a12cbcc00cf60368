#include "headrace/ingest/volume/shard_layers.hpp"

#include <algorithm>
#include <vector>

namespace headrace::ingest {

ShardLayers::ShardLayers(std::shared_ptr<storage::Store> store, const std::string& path,
                         zarr::ArrayMetadata metadata)
    : metadata_(metadata), writer_(std::move(store), path, std::move(metadata)) {}

std::int64_t ShardLayers::depth(std::int64_t layer) const {
  return std::min(metadata_.chunk_shape[0], metadata_.shape[0] - first_slice(layer));
}

std::int64_t ShardLayers::slice_bytes() const {
  return metadata_.shape[1] * metadata_.shape[2] *
         static_cast<std::int64_t>(size_of(metadata_.dtype));
}

void ShardLayers::write(std::int64_t layer, const std::byte* slices, ThreadPool& pool) {
  const auto grid = writer_.grid();
  const auto item = static_cast<std::int64_t>(size_of(metadata_.dtype));
  const std::int64_t row_bytes = metadata_.shape[2] * item;
  const auto& shard = metadata_.chunk_shape;
  pool.parallel_for(static_cast<std::size_t>(grid[1] * grid[2]), [&](std::size_t i) {
    const std::int64_t y = static_cast<std::int64_t>(i) / grid[2];
    const std::int64_t x = static_cast<std::int64_t>(i) % grid[2];
    writer_.write_shard({layer, y, x}, slices + y * shard[1] * row_bytes + x * shard[2] * item,
                        {slice_bytes(), row_bytes, item}, &pool);
  });
}

void ShardLayers::write(std::int64_t layer, const pixels::BitVolume& mask, ThreadPool& pool) {
  const std::int64_t height = metadata_.shape[1], width = metadata_.shape[2];
  std::vector<std::uint8_t> slices(static_cast<std::size_t>(depth(layer) * height * width));
  pool.parallel_for(static_cast<std::size_t>(depth(layer)), [&](std::size_t z) {
    std::uint8_t* voxel = slices.data() + static_cast<std::int64_t>(z) * height * width;
    for (std::int64_t y = 0; y < height; ++y, voxel += width) {
      const std::uint64_t* row = mask.row(first_slice(layer) + static_cast<std::int64_t>(z), y);
      for (std::int64_t x = 0; x < width; ++x) voxel[x] = row[x >> 6] >> (x & 63) & 1;
    }
  });
  write(layer, reinterpret_cast<const std::byte*>(slices.data()), pool);
}

}  // namespace headrace::ingest
