#include "learn/result/band_writer.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::result {
namespace {

constexpr int kZstdLevel = 3;

zarr::ArrayMetadata metadata_of(const BandWriter::Layout& layout) {
  zarr::ArrayMetadata out;
  out.dtype = DType::uint8;
  out.fill_value = {std::byte{layout.fill}};
  std::vector<std::int64_t> inner;
  const bool volume = layout.shape.size() == 3;
  out.dimension_names =
      volume ? std::vector<std::string>{"z", "y", "x"} : std::vector<std::string>{"y", "x"};
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    inner.push_back(axis == 0 ? layout.band : layout.chunk);
    out.shape.push_back(layout.shape[axis]);
    out.chunk_shape.push_back(axis == 0 ? layout.band : round_up(layout.shape[axis], layout.chunk));
  }
  if (layout.channels > 0) {
    inner.insert(inner.begin(), 1);
    out.shape.insert(out.shape.begin(), layout.channels);
    out.chunk_shape.insert(out.chunk_shape.begin(), 1);
    out.dimension_names.insert(out.dimension_names.begin(), "c");
  }
  out.codecs = zarr::Codecs::sharded(
      inner, zarr::Codecs::checked(zarr::Codecs::zstd(out.dtype, kZstdLevel)));
  return out;
}

}  // namespace

BandWriter::BandWriter(std::shared_ptr<storage::Store> store, const std::string& path,
                       const Layout& layout, ThreadPool* pool)
    : layout_(layout),
      pixels_(1),
      writer_(std::move(store), path, metadata_of(layout)),
      pool_(pool) {
  for (std::size_t axis = 1; axis < layout.shape.size(); ++axis)
    pixels_ *= static_cast<std::size_t>(layout.shape[axis]);
  const auto channels = static_cast<std::size_t>(std::max<std::int64_t>(1, layout.channels));
  band_.resize(channels * static_cast<std::size_t>(layout.band) * pixels_);
}

void BandWriter::add(std::span<const std::uint8_t> part) {
  const auto at = static_cast<std::size_t>(given_ % layout_.band);
  const std::size_t channels = part.size() / pixels_;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t row = c * static_cast<std::size_t>(layout_.band) + at;
    std::copy_n(part.data() + c * pixels_, pixels_, band_.data() + row * pixels_);
  }
  if (++given_ % layout_.band == 0 || given_ == layout_.shape[0]) write_band();
}

void BandWriter::write_band() {
  const std::int64_t number = (given_ - 1) / layout_.band;
  // Strides of a band's elements, from the last axis on.
  std::vector<std::int64_t> strides(layout_.shape.size(), 1);
  for (std::size_t axis = layout_.shape.size() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * layout_.shape[axis];
  std::vector<std::int64_t> shard(layout_.shape.size(), 0);
  shard[0] = number;
  if (layout_.channels == 0) {
    writer_.write_shard(shard, reinterpret_cast<const std::byte*>(band_.data()), strides, pool_);
    return;
  }
  const std::int64_t channel = layout_.band * static_cast<std::int64_t>(pixels_);
  strides.insert(strides.begin(), channel);
  shard.insert(shard.begin(), 0);
  for (std::int64_t c = 0; c < layout_.channels; ++c) {
    shard[0] = c;
    writer_.write_shard(shard, reinterpret_cast<const std::byte*>(band_.data() + c * channel),
                        strides, pool_);
  }
}

void BandWriter::finish() {
  if (given_ != layout_.shape[0]) {
    fail(ErrorCode::internal, "An array of {} parts was finished after {}.", layout_.shape[0],
         given_);
  }
  writer_.finish();
}

}  // namespace headrace::result
