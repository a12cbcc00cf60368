#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headrace/zarr/array.hpp"

namespace headrace::inference {

/// Slices of an array (z, y, x), one after the other along z; chunks are read once, one layer of
/// chunks at a time. memory bytes of an element × width × height × depth of an inner chunk
class SliceReader {
 public:
  explicit SliceReader(std::shared_ptr<const zarr::Array> array);
  /// (y, x) of slice z, the bytes of its elements; valid until the next call. Errors: those of
  /// zarr::Array::read.
  std::span<const std::uint8_t> slice(std::int64_t z);

 private:
  std::shared_ptr<const zarr::Array> array_;
  std::int64_t first_ = 0, count_ = 0;  ///< slices in layer_
  std::vector<std::uint8_t> layer_;
};

}  // namespace headrace::inference
