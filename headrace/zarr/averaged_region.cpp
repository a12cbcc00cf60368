#include "headrace/zarr/averaged_region.hpp"

#include <algorithm>

#include "headrace/pixels/average.hpp"

namespace headrace::zarr {
namespace {

// Axes of an array of averages (Array::open checks it).
constexpr int kC = 0, kY = 1, kX = 2;

}  // namespace

AveragedRegion::AveragedRegion(const Array::State& array, const RegionRead& wanted)
    : array_(&array), base_(&array), wanted_(wanted) {
  wanted_.row_spans = {};
  while (base_->finer) {
    base_ = &base_->finer_state();
    ++halvings_;
  }
  for (int axis = 0; axis < array.rank; ++axis) {
    const std::int64_t low = std::max<std::int64_t>(wanted.origin[axis], 0);
    const std::int64_t high = std::min(wanted.origin[axis] + wanted.shape[axis], array.shape[axis]);
    low_[axis] = low;
    shape_[axis] = std::max<std::int64_t>(high - low, 0);
    const int shift = axis == kC ? 0 : halvings_;
    from_[axis] = low << shift;
    from_shape_[axis] =
        shape_[axis] == 0
            ? 0
            : std::min((low + shape_[axis]) << shift, base_->shape[axis]) - from_[axis];
  }
  if (wanted.row_spans.empty()) return;
  const std::int64_t first = low_[kY] - wanted.origin[kY], left = low_[kX] - wanted.origin[kX];
  for (std::int64_t y = 0; y < from_shape_[kY]; ++y) {
    const RowSpan& span = wanted.row_spans[static_cast<std::size_t>(first + (y >> halvings_))];
    const auto edge = [&](std::int64_t x) {
      const std::int64_t inside = std::clamp<std::int64_t>(x - left, 0, shape_[kX]);
      return static_cast<std::int32_t>(std::min(inside << halvings_, from_shape_[kX]));
    };
    spans_.push_back({edge(span.begin), edge(span.end)});
  }
}

RegionRead AveragedRegion::source() const {
  const std::int64_t channels = from_shape_[kC];
  RegionRead region;
  region.origin = {from_[kC], from_[kY], from_[kX]};
  region.shape = {from_shape_[kC], from_shape_[kY], from_shape_[kX]};
  region.strides_bytes = {1, channels * from_shape_[kX], channels};
  region.row_spans = spans_;
  return region;
}

std::size_t AveragedRegion::source_bytes() const noexcept {
  return static_cast<std::size_t>(count_elements(array_->rank, from_shape_));
}

void AveragedRegion::average(std::byte* source, std::byte* dst) const {
  Index strides{}, whole{};
  for (int axis = 0; axis < array_->rank; ++axis) {
    strides[axis] = wanted_.strides_bytes[axis];
    whole[axis] = wanted_.shape[axis];
  }
  if (whole != shape_)
    fill_elements(array_->rank, whole, dst, strides, array_->metadata.fill_value);
  if (count_elements(array_->rank, shape_) == 0) return;
  const auto channels = static_cast<int>(from_shape_[kC]);
  std::int64_t height = from_shape_[kY], width = from_shape_[kX];
  auto* pixels = reinterpret_cast<std::uint8_t*>(source);
  for (int k = 0; k < halvings_; ++k) {
    const std::int64_t halved = (width + 1) / 2;
    pixels::average_2x2(pixels, height, width, channels, width * channels, pixels,
                        halved * channels);
    height = (height + 1) / 2;
    width = halved;
  }
  for (int axis = 0; axis < array_->rank; ++axis)
    dst += (low_[axis] - wanted_.origin[axis]) * strides[axis];
  copy_elements(array_->rank, shape_, source, {1, width * channels, channels}, dst, strides, 1);
}

}  // namespace headrace::zarr
