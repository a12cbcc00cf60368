#include "headrace/loader/dlpack.hpp"

#include <dlpack/dlpack.h>

#include <memory>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::loader::dlpack {
namespace {

/// What a tensor of ours points to; the batch keeps its memory.
struct Shared {
  DLManagedTensor managed{};
  Batch batch;
  std::vector<std::int64_t> shape, strides;
};

DLDataType type_of(transform::Element element) {
  switch (element) {
    case transform::Element::float16:
      return {kDLFloat, 16, 1};
    case transform::Element::bfloat16:
      return {kDLBfloat, 16, 1};
    case transform::Element::float32:
      break;
  }
  return {kDLFloat, 32, 1};
}

std::vector<std::int64_t> contiguous(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

DLManagedTensor* share(const Batch& batch, Part part) {
  const bool images = part == Part::images;
  if (!images && batch.labels == nullptr)
    fail(ErrorCode::usage, "labels of a batch were asked for, and it was made without");
  auto shared = std::make_unique<Shared>();
  shared->batch = batch;
  shared->shape = images ? batch.images_shape() : batch.labels_shape();
  shared->strides = images ? batch.images_strides() : contiguous(shared->shape);
  DLManagedTensor& out = shared->managed;
  // DLPack has no const.
  out.dl_tensor.data = const_cast<void*>(images ? batch.images : batch.labels);
  out.dl_tensor.device = batch.device < 0 ? DLDevice{kDLCPU, 0} : DLDevice{kDLCUDA, batch.device};
  out.dl_tensor.ndim = static_cast<std::int32_t>(shared->shape.size());
  out.dl_tensor.dtype = images ? type_of(batch.format.element) : DLDataType{kDLUInt, 8, 1};
  out.dl_tensor.shape = shared->shape.data();
  out.dl_tensor.strides = shared->strides.data();
  out.manager_ctx = shared.get();
  out.deleter = [](DLManagedTensor* self) { delete static_cast<Shared*>(self->manager_ctx); };
  return &shared.release()->managed;
}

}  // namespace headrace::loader::dlpack
