#include "headrace/model/put_there.hpp"

#include <ATen/ops/empty.h>

namespace headrace::model {

at::Tensor host_memory(at::IntArrayRef shape, at::ScalarType type, at::Device device) {
  return at::empty(shape, at::TensorOptions(type).pinned_memory(device.is_cuda()));
}

at::Tensor put_there(const at::Tensor& host, at::Device device) {
  return host.to(device, host.scalar_type(), /*non_blocking=*/true);
}

}  // namespace headrace::model
