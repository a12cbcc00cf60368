#include "learn/model/host_copies.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <thread>
#include <utility>

namespace headrace::model {

HostCopy copy_to_host(const at::Tensor& tensor) {
  at::Tensor host = at::empty(
      tensor.sizes(), at::TensorOptions(tensor.scalar_type()).device(at::kCPU).pinned_memory(true));
  host.copy_(tensor, /*non_blocking=*/true);
  return {std::move(host), mark_in_stream(tensor.device())};
}

c10::Event mark_in_stream(at::Device device) {
  c10::Event event(device.type(), c10::EventFlag::BACKEND_DEFAULT);  // with times
  event.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  return event;
}

/// LibTorch's events with times burn a core while they are waited for, and the loader needs it.
void wait_asleep(const c10::Event& event) {
  while (!event.query()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

at::Tensor host_memory(at::IntArrayRef shape, at::ScalarType type, at::Device device) {
  return at::empty(shape, at::TensorOptions(type).pinned_memory(device.is_cuda()));
}

at::Tensor put_there(const at::Tensor& host, at::Device device) {
  return host.to(device, host.scalar_type(), /*non_blocking=*/true);
}

at::Tensor copy_to(at::Device device, const at::Tensor& tensor) {
  if (device.is_cpu() || !tensor.is_cpu()) return tensor.to(device);
  at::Tensor locked = at::empty_like(tensor, tensor.options().pinned_memory(true));
  locked.copy_(tensor);
  // LibTorch gives page-locked memory out again when the stream has passed the copy.
  return locked.to(device, tensor.scalar_type(), /*non_blocking=*/true);
}

}  // namespace headrace::model
