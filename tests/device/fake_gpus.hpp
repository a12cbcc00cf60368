#pragma once
#include <cstddef>
#include <set>

struct CUstream_st;

/// The GPUs of tests/device/host_as_device.cpp, and what became of them.
namespace headrace::device::cuda::fixtures {

constexpr std::size_t kGpuBytes = std::size_t{1} << 30;

/// From here on there are `count` GPUs with so much memory, with or without memory pools, which
/// nobody has used yet, and the calling thread's is number 0. Call it when nothing is in use.
void set_gpus(int count, std::size_t bytes_each = kGpuBytes, bool pools = true);
/// Those with a context.
std::set<int> used_gpus();
/// What a null handle is for a thread whose GPU is this one.
CUstream_st* default_stream(int gpu);
/// Does all work of a stream.
void finish(CUstream_st* stream);

/// Since set_gpus.
struct Allocations {
  int plain = 0;  ///< cudaMalloc and cudaFree of device memory, each of which stops the GPU
  int grown = 0;  ///< times that a pool took memory from its driver
};
Allocations allocations();
/// Bytes of copy_to_device, since set_gpus.
std::size_t copied_to_device();

}  // namespace headrace::device::cuda::fixtures
