#pragma once
#include <ATen/core/Tensor.h>

namespace headrace::model {

/// Memory of the host for what put_there copies to a device: page-locked if that is a GPU.
at::Tensor host_memory(at::IntArrayRef shape, at::ScalarType type, at::Device device);

/// A copy on the device, behind what is in its current stream: the host waits for nothing. It may let
/// go of `host`, but must not write to it any more. On a CPU: `host` itself.
at::Tensor put_there(const at::Tensor& host, at::Device device);

}  // namespace headrace::model
