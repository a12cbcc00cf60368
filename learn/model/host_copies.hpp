#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

// Copies between the host and a GPU that the host does not wait for, in the GPU's current stream.
namespace headrace::model {

/// A copy of `tensor` in page-locked memory, made behind all work of its GPU's current stream;
/// `done` happens when it is complete: wait_asleep.
struct HostCopy {
  at::Tensor tensor;
  c10::Event done;
};
HostCopy copy_to_host(const at::Tensor& tensor);

/// An event, with its time, behind all work of a GPU's current stream.
c10::Event mark_in_stream(at::Device device);
/// Waits for an event without keeping a core busy. Errors: those of the device's work.
void wait_asleep(const c10::Event& event);

/// Memory of the host for what put_there copies to a device: page-locked if that is a GPU.
at::Tensor host_memory(at::IntArrayRef shape, at::ScalarType type, at::Device device);
/// A copy on the device, behind what is in its current stream. The caller may let go of `host`, but
/// must not write to it any more. On a CPU: `host` itself.
at::Tensor put_there(const at::Tensor& host, at::Device device);

/// `tensor` on `device`; the tensor itself where it is there already. From the host to a GPU by way
/// of page-locked memory; what becomes of `tensor` afterwards changes nothing.
at::Tensor copy_to(at::Device device, const at::Tensor& tensor);

}  // namespace headrace::model
