#pragma once
#include <ATen/core/Tensor.h>

namespace headrace::inference {

/// result::probability_byte of many, operation by operation, on any of LibTorch's devices: float32
/// to uint8.
at::Tensor probability_bytes(const at::Tensor& probabilities);

}  // namespace headrace::inference
