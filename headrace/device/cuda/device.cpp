#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/device/cuda/check.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

namespace {

constexpr int kOldestMajor = 8;  // compute capability of what kernels are compiled for

}  // namespace

bool cuda_available() noexcept {
  int count = 0, device = 0, major = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess) {
    return major >= kOldestMajor;
  }
  cudaGetLastError();
  return false;
}

std::string describe() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess || count == 0) {
    cudaGetLastError();
    return fmt::format(
        "no GPU: {}", result == cudaSuccess ? "CUDA counts no device" : cudaGetErrorString(result));
  }
  int device = 0, driver = 0;
  cudaDeviceProp properties;
  HR_CUDA(cudaGetDevice(&device));
  HR_CUDA(cudaGetDeviceProperties(&properties, device));
  HR_CUDA(cudaDriverGetVersion(&driver));
  if (properties.major < kOldestMajor) {
    return fmt::format("no GPU: {} is sm_{}{}, and the kernels are for sm_{}0 and newer",
                       properties.name, properties.major, properties.minor, kOldestMajor);
  }
  return fmt::format("{}, sm_{}{}, {} MiB, driver for CUDA {}.{}", properties.name,
                     properties.major, properties.minor, properties.totalGlobalMem >> 20,
                     driver / 1000, driver % 1000 / 10);
}

std::string pci_bus_id() {
  int device = 0;
  char id[32] = {};
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetPCIBusId(id, sizeof id, device) == cudaSuccess) {
    return id;
  }
  cudaGetLastError();
  return {};
}

void use_device(int index) { HR_CUDA(cudaSetDevice(index)); }

int process_device() {
  const char* rank = std::getenv("LOCAL_RANK");
  if (rank == nullptr || *rank == 0) return 0;
  int index = -1, count = 0;
  const char* end = rank + std::strlen(rank);
  const auto [rest, error] = std::from_chars(rank, end, index);
  HR_CUDA(cudaGetDeviceCount(&count));
  if (error != std::errc() || rest != end || index < 0 || index >= count) {
    fail(ErrorCode::usage, "LOCAL_RANK is '{}': expected the number of a GPU, 0 to {}", rank,
         count - 1);
  }
  return index;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  HR_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

Stream::Stream() { HR_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
Stream::~Stream() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}
Stream& Stream::operator=(Stream&& o) noexcept {
  std::swap(stream_, o.stream_);
  return *this;
}
void Stream::wait() { HR_CUDA(cudaStreamSynchronize(stream_)); }

Event::Event(bool timed) {
  // Who waits sleeps: CUDA's default is a loop that takes a core from those that decode.
  const unsigned flags = cudaEventBlockingSync | (timed ? 0u : cudaEventDisableTiming);
  HR_CUDA(cudaEventCreateWithFlags(&event_, flags));
}
Event::~Event() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}
Event& Event::operator=(Event&& o) noexcept {
  std::swap(event_, o.event_);
  return *this;
}
void Event::record(CUstream_st* stream) { HR_CUDA(cudaEventRecord(event_, stream)); }
void Event::wait() { HR_CUDA(cudaEventSynchronize(event_)); }
void Event::hold(CUstream_st* stream) const { HR_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
double Event::seconds_to(const Event& later) const {
  float milliseconds = 0;
  HR_CUDA(cudaEventElapsedTime(&milliseconds, event_, later.event_));
  return static_cast<double>(milliseconds) * 1e-3;
}

void* DeviceMemory::allocate(std::size_t size_bytes) {
  void* data = nullptr;
  HR_CUDA(cudaMalloc(&data, size_bytes + HostBuffer::kTailPadding));
  return data;
}
void DeviceMemory::release(void* data) noexcept {
  if (data != nullptr) cudaFree(data);
}
void* PinnedMemory::allocate(std::size_t size_bytes) {
  void* data = nullptr;
  HR_CUDA(cudaMallocHost(&data, size_bytes));
  return data;
}
void PinnedMemory::release(void* data) noexcept {
  if (data != nullptr) cudaFreeHost(data);
}

void copy_to_device(void* device, const void* host, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  HR_CUDA(cudaMemcpyAsync(device, host, size_bytes, cudaMemcpyHostToDevice, stream.get()));
}
void copy_to_host(void* host, const void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  HR_CUDA(cudaMemcpyAsync(host, device, size_bytes, cudaMemcpyDeviceToHost, stream.get()));
}
void clear(void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  HR_CUDA(cudaMemsetAsync(device, 0, size_bytes, stream.get()));
}
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, Stream& stream) {
  if (row_bytes <= 0 || rows <= 0) return;
  const auto size = [](std::int64_t v) { return static_cast<std::size_t>(v); };
  HR_CUDA(cudaMemcpy2DAsync(to, size(to_pitch), from, size(from_pitch), size(row_bytes), size(rows),
                            cudaMemcpyDefault, stream.get()));
}

}  // namespace headrace::device::cuda
