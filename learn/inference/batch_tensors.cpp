#include "learn/inference/batch_tensors.hpp"

#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>
#include <utility>
#include <vector>

#include "learn/model/host_copies.hpp"

namespace headrace::inference {
namespace {

constexpr std::uintptr_t kAlign = 64;  // of LibTorch's own tensors

at::ScalarType type_of(transform::Element element) {
  switch (element) {
    case transform::Element::float16:
      return at::kHalf;
    case transform::Element::bfloat16:
      return at::kBFloat16;
    default:
      return at::kFloat;
  }
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The batch's memory as a tensor, in place. from_blob does not take const; the memory is only
/// read.
at::Tensor tensor_at(const loader::Batch& batch, const void* data,
                     const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& strides, at::ScalarType type) {
  const at::Device where = batch.device < 0
                               ? at::Device(at::kCPU)
                               : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(batch.device));
  return at::for_blob(const_cast<void*>(data), shape)
      .strides(strides)
      .options(at::TensorOptions(type).device(where))
      .target_device(where)
      .make_tensor();
}

}  // namespace

at::Tensor images_of(const loader::Batch& batch) {
  return tensor_at(batch, batch.images, batch.images_shape(), batch.images_strides(),
                   type_of(batch.format.element));
}

at::Tensor labels_of(const loader::Batch& batch) {
  const std::vector<std::int64_t> shape = batch.labels_shape();
  return tensor_at(batch, batch.labels, shape, contiguous_strides(shape), at::kByte);
}

model::ClassSets sets_of(const loader::Batch& batch) {
  model::ClassSets sets;
  for (const ClassSet& set : batch.class_sets)
    sets.emplace_back(set.classes.begin(), set.classes.end());
  return sets;
}

at::Tensor part_of(const at::Tensor& batch, std::int64_t part, std::int64_t parts) {
  const std::int64_t samples = batch.size(0) / parts;
  const at::Tensor values = batch.narrow(0, part * samples, samples);
  const auto address = reinterpret_cast<std::uintptr_t>(values.const_data_ptr());
  return address % kAlign == 0 ? values : values.clone();
}

void hold(const loader::Batch& batch) {
  if (batch.device < 0) return;
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const c10::Stream stream =
      cuda.getStream(at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(batch.device)));
  batch.hold(static_cast<CUstream_st*>(stream.native_handle()));
}

std::function<std::span<const std::uint8_t>()> host_labels(const loader::Batch& batch) {
  const std::size_t size = batch.labels_bytes();
  if (batch.device < 0) return [labels = std::span(batch.labels, size)] { return labels; };
  hold(batch);
  const auto copy = std::make_shared<model::HostCopy>(model::copy_to_host(labels_of(batch)));
  return [copy, size] {
    model::wait_asleep(copy->done);
    return std::span(copy->tensor.const_data_ptr<std::uint8_t>(), size);
  };
}

std::function<loader::Batch()> host_copy(const loader::Batch& batch) {
  const auto bytes_of = [&](const void* data, std::size_t size) {
    return tensor_at(batch, data, {static_cast<std::int64_t>(size)}, {1}, at::kByte);
  };
  hold(batch);
  std::vector<at::Tensor> here{bytes_of(batch.images, batch.images_bytes())};
  if (batch.labels != nullptr) here.push_back(bytes_of(batch.labels, batch.labels_bytes()));
  std::vector<std::shared_ptr<model::HostCopy>> copies;
  for (at::Tensor& tensor : here) {
    if (batch.device < 0) {
      tensor = tensor.clone();
    } else {
      copies.push_back(std::make_shared<model::HostCopy>(model::copy_to_host(tensor)));
      tensor = copies.back()->tensor;
    }
  }
  loader::Batch copy = batch;
  copy.device = -1;
  copy.lease.reset();
  copy.images = here.front().const_data_ptr();
  if (batch.labels != nullptr) copy.labels = here.back().const_data_ptr<std::uint8_t>();
  copy.memory = std::make_shared<std::vector<at::Tensor>>(std::move(here));
  return [copy = std::move(copy), copies = std::move(copies)] {
    for (const auto& made : copies) {
      // A thread that chose no GPU has number 0, and would make a context there by waiting.
      const c10::DeviceGuard gpu(made->done.device());
      model::wait_asleep(made->done);
    }
    return copy;
  };
}

}  // namespace headrace::inference
