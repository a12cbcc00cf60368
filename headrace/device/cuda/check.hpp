#pragma once
#include <cuda_runtime_api.h>

namespace headrace::device::cuda {

/// Throws Error (device; memory, where an allocation failed) unless `result` is success. `call` is
/// the call's source text.
void check(cudaError_t result, const char* call, const char* file, int line);

}  // namespace headrace::device::cuda

#define HR_CUDA(call) ::headrace::device::cuda::check((call), #call, __FILE__, __LINE__)
