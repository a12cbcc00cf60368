#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/threads.hpp"
#include "headrace/pixels/volume/bit_morphology.hpp"
#include "headrace/zarr/array_writer.hpp"

namespace headrace::ingest {

/// A (z, y, x) array that is written layer by layer; a layer is one shard deep and covers the whole
/// slice.
class ShardLayers {
 public:
  ShardLayers(std::shared_ptr<storage::Store> store, const std::string& path,
              zarr::ArrayMetadata metadata);

  std::int64_t layers() const { return writer_.grid()[0]; }
  std::int64_t first_slice(std::int64_t layer) const { return layer * metadata_.chunk_shape[0]; }
  /// Slices of a layer; the last layer has only those that the array has.
  std::int64_t depth(std::int64_t layer) const;
  std::int64_t slice_bytes() const;

  /// Stores a layer. slices: element (first_slice(layer), 0, 0), rows and slices without gaps.
  void write(std::int64_t layer, const std::byte* slices, ThreadPool& pool);
  /// Stores a layer of a uint8 array from a mask of its shape: 1 where it is set.
  void write(std::int64_t layer, const pixels::BitVolume& mask, ThreadPool& pool);
  /// Writes the array's metadata, when all layers are there.
  void align_chunks(std::size_t bytes) { writer_.align_chunks(bytes); }
  void finish() { writer_.finish(); }

 private:
  zarr::ArrayMetadata metadata_;
  zarr::ArrayWriter writer_;
};

}  // namespace headrace::ingest
