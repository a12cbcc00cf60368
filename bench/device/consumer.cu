#include <cmath>
#include <cstdint>

#include "bench/device/consumer.hpp"
#include "headrace/device/cuda/check.hpp"

namespace headrace::device_bench {
namespace {

constexpr double kKernelMs = 0.1;
constexpr int kThreads = 1024;

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// The sum keeps the compiler from leaving the reads out.
__global__ void occupy(const unsigned* words, std::size_t count, std::uint64_t ns, unsigned* sum) {
  const std::uint64_t begin = nanoseconds();
  unsigned read = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    read ^= words[i];
  }
  atomicXor(sum, read);
  while (nanoseconds() - begin < ns) {
  }
}

}  // namespace

void consume(const void* images, std::size_t size_bytes, double ms, unsigned* sum,
             device::cuda::Stream& stream) {
  int device = 0, processors = 0, threads = 0;
  HR_CUDA(cudaGetDevice(&device));
  HR_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  HR_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  const auto blocks = static_cast<unsigned>(processors * (threads / kThreads));
  const int kernels = std::max(1, static_cast<int>(std::lround(ms / kKernelMs)));
  const auto ns = static_cast<std::uint64_t>(ms / kernels * 1e6);
  for (int i = 0; i < kernels; ++i) {
    occupy<<<blocks, kThreads, 0, stream.get()>>>(static_cast<const unsigned*>(images),
                                                  i == 0 ? size_bytes / 4 : 0, ns, sum);
  }
  HR_CUDA(cudaGetLastError());
}

}  // namespace headrace::device_bench
