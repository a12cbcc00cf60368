#include "headrace/loader/dlpack.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::loader::dlpack {
namespace {

/// What a tensor of ours points to; the batch keeps its memory.
struct Shared {
  ManagedTensor managed{};
  Batch batch;
  std::vector<std::int64_t> shape, strides;
};

DataType type_of(transform::Element element) {
  switch (element) {
    case transform::Element::float16:
      return {TypeCode::floating, 16, 1};
    case transform::Element::bfloat16:
      return {TypeCode::bfloat, 16, 1};
    case transform::Element::float32:
      break;
  }
  return {TypeCode::floating, 32, 1};
}

std::vector<std::int64_t> contiguous(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

ManagedTensor* share(const Batch& batch, Part part) {
  const bool images = part == Part::images;
  if (!images && batch.labels == nullptr)
    fail(ErrorCode::usage, "labels of a batch were asked for, and it was made without");
  auto shared = std::make_unique<Shared>();
  shared->batch = batch;
  shared->shape = images ? batch.images_shape() : batch.labels_shape();
  shared->strides = images ? batch.images_strides() : contiguous(shared->shape);
  ManagedTensor& out = shared->managed;
  // DLPack has no const.
  out.tensor.data = const_cast<void*>(images ? batch.images : batch.labels);
  out.tensor.device =
      batch.device < 0 ? Device{DeviceType::cpu, 0} : Device{DeviceType::cuda, batch.device};
  out.tensor.ndim = static_cast<std::int32_t>(shared->shape.size());
  out.tensor.dtype =
      images ? type_of(batch.format.element) : DataType{TypeCode::unsigned_integer, 8, 1};
  out.tensor.shape = shared->shape.data();
  out.tensor.strides = shared->strides.data();
  out.manager = shared.get();
  out.deleter = [](ManagedTensor* self) { delete static_cast<Shared*>(self->manager); };
  return &shared.release()->managed;
}

}  // namespace headrace::loader::dlpack
