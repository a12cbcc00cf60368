#include "headrace/transform/slide/slide_array_batch.hpp"

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

/// Bytes behind the last pixel of a window that a gather may read.
constexpr std::int64_t kReadBehind = 4;

/// Whether a window can be read where it is: the array has all of it, and bytes behind it.
bool fits(const ImageView& from, const Box2& window, std::int64_t channels) {
  const std::int64_t last_row = window.y0 + window.height, end = window.x0 + window.width;
  if (window.y0 < 0 || window.x0 < 0 || last_row > from.height || end > from.width) return false;
  if (from.row_stride_bytes * window.height > std::numeric_limits<std::int32_t>::max() / 2)
    return false;
  const std::int64_t behind =
      (from.height - last_row) * from.row_stride_bytes + (from.width - end) * channels;
  return behind >= kReadBehind;
}

/// Copies the pixels of the array that the gather touches; the others of the window are not set,
/// and the gather puts `outside` in their place.
ImageView copied(const ImageView& from, const PatchGeometry& geometry, std::int64_t channels,
                 device::HostBuffer& memory) {
  const Box2& window = geometry.window;
  const std::int64_t stride = round_up(window.width * channels, 64);
  const auto bytes = static_cast<std::size_t>(stride * window.height);
  if (memory.size() < bytes) memory.reserve(bytes + bytes / 2);
  auto* to = memory.as<std::uint8_t>();
  const std::int64_t first = std::max<std::int64_t>(0, -window.y0);
  const std::int64_t last = std::min(window.height, from.height - window.y0);
  for (std::int64_t row = first; row < last; ++row) {
    const auto& span = geometry.row_spans[static_cast<std::size_t>(row)];
    const std::int64_t begin = std::max<std::int64_t>(span[0], -window.x0);
    const std::int64_t end = std::min<std::int64_t>(span[1], from.width - window.x0);
    if (begin >= end) continue;
    std::memcpy(
        to + row * stride + begin * channels,
        from.data + (window.y0 + row) * from.row_stride_bytes + (window.x0 + begin) * channels,
        static_cast<std::size_t>((end - begin) * channels));
  }
  return {to, static_cast<std::int32_t>(window.height), static_cast<std::int32_t>(window.width),
          stride};
}

ImageView window_of(const ImageView& from, const PatchGeometry& geometry, std::int64_t channels,
                    device::HostBuffer& memory) {
  const Box2& window = geometry.window;
  if (!fits(from, window, channels)) return copied(from, geometry, channels, memory);
  return {from.data + window.y0 * from.row_stride_bytes + window.x0 * channels,
          static_cast<std::int32_t>(window.height), static_cast<std::int32_t>(window.width),
          from.row_stride_bytes};
}

}  // namespace

ArrayBatch::ArrayBatch(Graph graph) : graph_(std::move(graph)) {
  if (graph_.patch().context.size() != 1) {
    fail(ErrorCode::usage,
         "patch.context: batches of arrays have one context, and the list has {}; leave it at [1]",
         graph_.patch().context.size());
  }
  for (int i = 0; i < available_cores(); ++i) workers_.put({});
}

void ArrayBatch::run(std::span<const ImageArray> samples, const SampleKey& first, bool random,
                     float* dst, std::uint8_t* dst_labels, ThreadPool& pool) const {
  const auto plane = static_cast<std::size_t>(graph_.patch().height) *
                     static_cast<std::size_t>(graph_.patch().width);
  pool.parallel_for(samples.size(), [&](std::size_t i) {
    with_context(fmt::format("image {}", i), [&] {
      const SampleKey key{first.seed, first.epoch, first.index + i};
      const auto params = graph_.draw(key, samples[i].colour, random);
      LimitedPool<Worker>::Lease worker(workers_);
      make(samples[i], *params, dst + 3 * plane * i,
           dst_labels == nullptr ? nullptr : dst_labels + plane * i, *worker);
    });
  });
}

void ArrayBatch::make(const ImageArray& sample, const SampleParams& params, float* dst,
                      std::uint8_t* dst_labels, Worker& worker) const {
  PatchGeometry& geometry = worker.geometry;
  graph_.locate(params, 1, sample.centre_yx, sample.mpp_yx, geometry);
  const Box2 extent{-geometry.window.y0, -geometry.window.x0, sample.image.height,
                    sample.image.width};
  graph_.image(params, geometry, window_of(sample.image, geometry, 3, worker.window), extent, dst,
               worker.scratch);
  if (dst_labels == nullptr) return;
  if (sample.labels.data == nullptr) {
    const PatchSpec& patch = graph_.patch();
    std::memset(dst_labels, kIgnoreLabel,
                static_cast<std::size_t>(patch.height) * static_cast<std::size_t>(patch.width));
    return;
  }
  graph_.labels(params, geometry, window_of(sample.labels, geometry, 1, worker.window), extent,
                kIgnoreLabel, dst_labels, worker.scratch);
}

}  // namespace headrace::transform
