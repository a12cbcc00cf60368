#include "learn/inference/volume/slice_reader.hpp"

#include <algorithm>

namespace headrace::inference {

SliceReader::SliceReader(std::shared_ptr<const zarr::Array> array) : array_(std::move(array)) {}

std::span<const std::uint8_t> SliceReader::slice(std::int64_t z) {
  const auto& shape = array_->metadata().shape;
  const auto element = static_cast<std::int64_t>(size_of(array_->metadata().dtype));
  const std::int64_t row = shape[2] * element, bytes = shape[1] * row;
  if (z < first_ || z >= first_ + count_) {
    const std::int64_t depth = array_->inner_chunk_shape()[0];
    first_ = z / depth * depth;
    count_ = std::min(depth, shape[0] - first_);
    layer_.resize(static_cast<std::size_t>(count_ * bytes));
    zarr::RegionRead region;
    region.origin = {first_, 0, 0};
    region.shape = {count_, shape[1], shape[2]};
    region.dst = reinterpret_cast<std::byte*>(layer_.data());
    region.strides_bytes = {bytes, row, element};
    array_->read(region);
  }
  return {layer_.data() + (z - first_) * bytes, static_cast<std::size_t>(bytes)};
}

}  // namespace headrace::inference
