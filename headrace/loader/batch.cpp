#include "headrace/loader/batch.hpp"

#include <cstddef>
#include <functional>
#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/device/device_pool.hpp"
#include "headrace/device/device_scope.hpp"

namespace headrace::loader {
namespace {

std::size_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), std::size_t{1},
      [](std::size_t so_far, std::int64_t n) { return so_far * static_cast<std::size_t>(n); });
}

}  // namespace

std::vector<std::int64_t> Batch::images_shape() const {
  if (depth > 0) return {samples, channels, depth, height, width};
  return {samples, contexts, channels, height, width};
}

std::vector<std::int64_t> Batch::images_strides() const {
  // With one channel both layouts are the same; a library that chooses its algorithm by strides
  // sees only one of them.
  const bool last = format.layout == transform::Layout::channels_last && channels > 1;
  const std::int64_t column = last ? channels : 1, row = width * column;
  if (depth > 0) {
    const std::int64_t slice = height * row, pixels = depth * height * width;
    return {channels * pixels, last ? 1 : pixels, slice, row, column};
  }
  const std::int64_t pixels = height * width, context = channels * pixels;
  return {contexts * context, context, last ? 1 : pixels, row, column};
}

std::vector<std::int64_t> Batch::labels_shape() const {
  if (depth > 0) return {samples, depth, height, width};
  return {samples, height, width};
}

std::size_t Batch::images_bytes() const {
  return product(images_shape()) * transform::bytes_of(format.element);
}
std::size_t Batch::labels_bytes() const { return labels == nullptr ? 0 : product(labels_shape()); }

Batch Batch::of_view(std::size_t i) const {
  const BatchView& view = views.at(i);
  Batch batch = *this;
  batch.views.clear();
  batch.labels = nullptr;
  batch.contexts = view.crops;
  batch.height = view.height;
  batch.width = view.width;
  batch.images = static_cast<const std::byte*>(images) + view.at;
  return batch;
}

const float* Batch::floats() const {
  if (device >= 0 || format != transform::TensorFormat{}) {
    fail(ErrorCode::internal, "a batch of float32 in host memory was expected, channels first");
  }
  return static_cast<const float*>(images);
}

void Batch::hold(CUstream_st* stream) const {
  if (lease) lease->hold(stream);
}

void Batch::release_on(CUstream_st* stream) {
  if (lease) lease->read_in(stream);
  lease.reset();
  memory.reset();
  images = nullptr;
  labels = nullptr;
}

Batch Batch::on_host() const {
  if (device < 0) return *this;
  Batch copy = *this;
  const device::cuda::DeviceScope scope(lease->device);  // the stream's
  device::cuda::Stream stream;
  lease->ready.hold(stream.get());
  std::size_t end = images_bytes();
  if (!views.empty()) end = views.back().at + of_view(views.size() - 1).images_bytes();
  auto bytes = std::make_shared<device::HostBuffer>(end + labels_bytes());
  device::cuda::copy_to_host(bytes->data(), images, end, stream);
  if (labels != nullptr) {
    device::cuda::copy_to_host(bytes->data() + end, labels, labels_bytes(), stream);
    copy.labels = bytes->as<std::uint8_t>() + end;
  }
  stream.wait();
  copy.images = bytes->data();
  copy.device = -1;
  copy.memory = std::move(bytes);
  copy.lease.reset();
  return copy;
}

}  // namespace headrace::loader
