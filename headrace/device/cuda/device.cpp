#include <fmt/format.h>

#include <cstdint>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/device/cuda/check.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_pool.hpp"
#include "headrace/device/shared_library.hpp"

namespace headrace::device::cuda {

namespace {

constexpr int kOldestMajor = 8;  // compute capability of what kernels are compiled for

/// Of the driver itself: the runtime has no function that asks without making a context.
struct Contexts {
  SharedLibrary driver{nullptr, "libcuda.so.1"};
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*state)(int device, unsigned* flags, int* active) = nullptr;

  Contexts() {
    driver.find("cuDeviceGet", device_get);
    driver.find("cuDevicePrimaryCtxGetState", state);
  }
};

/// For what may not throw: else the next call would report the error again.
void ignore(cudaError_t result) noexcept {
  if (result != cudaSuccess) cudaGetLastError();
}

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

int device_count() {
  int count = 0;
  HR_CUDA(cudaGetDeviceCount(&count));
  return count;
}
int current_device() noexcept {
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) return device;
  cudaGetLastError();
  return 0;
}
void use_device(int index) { HR_CUDA(cudaSetDevice(index)); }

bool has_context(int index) noexcept {
  static const Contexts contexts;
  int device = 0, active = 0;
  unsigned flags = 0;
  return contexts.driver.there() && contexts.device_get(&device, index) == 0 &&
         contexts.state(device, &flags, &active) == 0 && active != 0;
}

void wait_for_device() { HR_CUDA(cudaDeviceSynchronize()); }
std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  HR_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

Stream::Stream() {
  CUstream_st* stream = nullptr;
  HR_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_ = {stream, [](CUstream_st* s) { ignore(cudaStreamDestroy(s)); }};
  device_ = current_device();
}
// A thread that never chose a GPU would else get a context of number 0.
void Stream::wait() {
  const DeviceScope scope(device_);
  HR_CUDA(cudaStreamSynchronize(get()));
}

Event::Event(bool timed) : device_(current_device()) {
  // Who waits sleeps: CUDA's default is a loop that takes a core from those that decode.
  const unsigned flags = cudaEventBlockingSync | (timed ? 0u : cudaEventDisableTiming);
  HR_CUDA(cudaEventCreateWithFlags(&event_, flags));
}
Event::~Event() {
  if (event_ != nullptr) ignore(cudaEventDestroy(event_));
}
Event& Event::operator=(Event&& o) noexcept {
  std::swap(event_, o.event_);
  std::swap(device_, o.device_);
  return *this;
}
void Event::record(CUstream_st* stream) { HR_CUDA(cudaEventRecord(event_, stream)); }
void Event::wait() {
  const DeviceScope scope(device_);
  HR_CUDA(cudaEventSynchronize(event_));
}
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
  if (data != nullptr) ignore(cudaFree(data));
}
void* PinnedMemory::allocate(std::size_t size_bytes) {
  void* data = nullptr;
  HR_CUDA(cudaMallocHost(&data, size_bytes));
  return data;
}
void PinnedMemory::release(void* data) noexcept {
  if (data != nullptr) ignore(cudaFreeHost(data));
}

CUmemPoolHandle_st* OrderedMemory::create(int device) {
  int supported = 0;
  HR_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
  if (supported == 0) return nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool = nullptr;
  HR_CUDA(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t everything = UINT64_MAX;  // what comes back stays
  HR_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
  return pool;
}
void OrderedMemory::destroy(CUmemPoolHandle_st* pool) noexcept { ignore(cudaMemPoolDestroy(pool)); }
void* OrderedMemory::allocate(CUmemPoolHandle_st* pool, std::size_t bytes, CUstream_st* stream) {
  void* data = nullptr;
  HR_CUDA(cudaMallocFromPoolAsync(&data, bytes, pool, stream));
  return data;
}
void OrderedMemory::release(CUmemPoolHandle_st*, void* data, CUstream_st* stream) noexcept {
  ignore(cudaFreeAsync(data, stream));
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
