#include "headrace/device/cuda/check.hpp"

#include <string_view>

#include "headrace/core/error.hpp"

namespace headrace::device::cuda {

void check(cudaError_t result, const char* call, const char* file, int line) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report it again
  std::string_view place = file;
  if (const std::size_t at = place.rfind("headrace/"); at != place.npos) place.remove_prefix(at);
  fail(result == cudaErrorMemoryAllocation ? ErrorCode::memory : ErrorCode::device,
       "CUDA: {} ({}) from {}, {}:{}", cudaGetErrorString(result), cudaGetErrorName(result), call,
       place, line);
}

}  // namespace headrace::device::cuda
