#include "headrace/transform/volume/volume_array_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/core/rounding.hpp"

namespace headrace::transform {
namespace {

/// Bytes behind the last voxel of a window that a gather may read.
constexpr std::int64_t kReadBehind = 16;

template <typename T>
std::int64_t place_of(const VolumeView<T>& view, std::int64_t z, std::int64_t y, std::int64_t x) {
  return z * view.slice_stride + y * view.row_stride + x;
}

/// Whether a window can be read where it is: the array has all of it, and bytes behind it.
template <typename T>
bool fits(const VolumeView<T>& from, const Box3& window) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (window.origin_zyx[axis] < 0 ||
        window.origin_zyx[axis] + window.size_zyx[axis] > from.shape_zyx[axis])
      return false;
  }
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (from.slice_stride * window.size_zyx[0] * kSize > std::numeric_limits<std::int32_t>::max() / 2)
    return false;
  const auto last = [](std::int64_t origin, std::int64_t size) { return origin + size - 1; };
  const std::int64_t behind =
      place_of(from, from.shape_zyx[0] - 1, from.shape_zyx[1] - 1, from.shape_zyx[2] - 1) -
      place_of(from, last(window.origin_zyx[0], window.size_zyx[0]),
               last(window.origin_zyx[1], window.size_zyx[1]),
               last(window.origin_zyx[2], window.size_zyx[2]));
  return behind * kSize >= kReadBehind;
}

/// Copies the part of the window that the array has; the rest is not set, and never used.
template <typename T>
VolumeView<T> copied(const VolumeView<T>& from, const Box3& window, device::HostBuffer& memory) {
  VolumeView<T> to;
  std::array<std::int64_t, 3> first, last;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    to.shape_zyx[axis] = static_cast<std::int32_t>(window.size_zyx[axis]);
    first[axis] = std::max<std::int64_t>(0, -window.origin_zyx[axis]);
    last[axis] = std::min(window.size_zyx[axis], from.shape_zyx[axis] - window.origin_zyx[axis]);
  }
  to.row_stride = round_up(window.size_zyx[2], 32);
  to.slice_stride = to.row_stride * window.size_zyx[1];
  const auto bytes = static_cast<std::size_t>(to.slice_stride * window.size_zyx[0]) * sizeof(T);
  if (memory.size() < bytes) memory.reserve(bytes + bytes / 2);
  T* const voxels = memory.as<T>();
  to.data = voxels;
  if (first[2] >= last[2]) return to;
  const auto count = static_cast<std::size_t>(last[2] - first[2]) * sizeof(T);
  for (std::int64_t z = first[0]; z < last[0]; ++z) {
    for (std::int64_t y = first[1]; y < last[1]; ++y) {
      std::memcpy(voxels + place_of(to, z, y, first[2]),
                  from.data + place_of(from, window.origin_zyx[0] + z, window.origin_zyx[1] + y,
                                       window.origin_zyx[2] + first[2]),
                  count);
    }
  }
  return to;
}

template <typename T>
VolumeView<T> window_of(const VolumeView<T>& from, const Box3& window, device::HostBuffer& memory) {
  if (!fits(from, window)) return copied(from, window, memory);
  VolumeView<T> view = from;
  view.data += place_of(from, window.origin_zyx[0], window.origin_zyx[1], window.origin_zyx[2]);
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.shape_zyx[axis] = static_cast<std::int32_t>(window.size_zyx[axis]);
  return view;
}

/// The array in voxels of the window.
Box3 extent_of(const VolumeView<std::int16_t>& array, const Box3& window) {
  Box3 extent;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extent.origin_zyx[axis] = -window.origin_zyx[axis];
    extent.size_zyx[axis] = array.shape_zyx[axis];
  }
  return extent;
}

}  // namespace

VolumeArrayBatch::VolumeArrayBatch(std::vector<VolumeGraph> channels)
    : channels_(std::move(channels)) {
  if (channels_.empty())
    fail(ErrorCode::usage,
         "a batch of volumes needs a channel; name one, or none for the only one");
  for (int i = 0; i < available_cores(); ++i) workers_.put({});
}

std::size_t VolumeArrayBatch::voxels() const {
  std::size_t count = 1;
  for (const std::int32_t size : channels_.front().patch().size_zyx)
    count *= static_cast<std::size_t>(size);
  return count;
}

void VolumeArrayBatch::run(std::span<const VolumeArray> samples, const SampleKey& first,
                           bool random, float* dst, std::uint8_t* dst_labels,
                           ThreadPool& pool) const {
  const std::size_t patch = voxels();
  pool.parallel_for(samples.size(), [&](std::size_t i) {
    with_context(fmt::format("image {}", i), [&] {
      make(samples[i], {first.seed, first.epoch, first.index + i}, random,
           dst + patch * channels_.size() * i,
           dst_labels == nullptr ? nullptr : dst_labels + patch * i);
    });
  });
}

void VolumeArrayBatch::make(const VolumeArray& sample, const SampleKey& key, bool random,
                            float* dst, std::uint8_t* dst_labels) const {
  if (sample.channels.size() != channels_.size()) {
    fail(ErrorCode::usage, "expected {} channels, found {}; give each volume all of them",
         channels_.size(), sample.channels.size());
  }
  const bool labelled = dst_labels != nullptr && sample.labels.data != nullptr;
  if (dst_labels != nullptr && !labelled) std::memset(dst_labels, kIgnoreLabel, voxels());
  LimitedPool<Worker>::Lease worker(workers_);
  VolumeGeometry& geometry = worker->geometry;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    const auto params = channels_[c].draw(
        key, sample.patient.empty() ? IntensityStats{} : sample.patient[c], random);
    // The geometry of all channels is the same, and so are their labels.
    if (c == 0) channels_[c].locate(*params, sample.centre_zyx, sample.spacing_mm_zyx, geometry);
    const bool with_labels = labelled && c == 0;
    VolumeView<std::uint8_t> labels;
    if (with_labels) labels = window_of(sample.labels, geometry.window, worker->label_window);
    channels_[c].run(*params, geometry,
                     window_of(sample.channels[c], geometry.window, worker->window), labels,
                     extent_of(sample.channels[c], geometry.window), kIgnoreLabel,
                     dst + voxels() * c, with_labels ? dst_labels : nullptr, worker->scratch);
  }
}

}  // namespace headrace::transform
