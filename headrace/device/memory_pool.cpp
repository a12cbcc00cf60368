#include "headrace/device/memory_pool.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_relief.hpp"

namespace headrace::device::cuda {
namespace {

Stream stream_on(int device) {
  const DeviceScope scope(device);
  return {};
}

}  // namespace

MemoryPool::MemoryPool(int device)
    : device_(device), handle_(OrderedMemory::create(device)), own_(stream_on(device)) {}

/// Memory that is still in use goes back to the driver when it is released.
MemoryPool::~MemoryPool() {
  if (ordered()) OrderedMemory::destroy(handle_);
}

void MemoryPool::reserve(std::size_t bytes) {
  if (bytes == 0) return;
  release(allocate(bytes, own_.get()), own_.get());
  own_.wait();  // so that other streams find it free
}

void* MemoryPool::allocate(std::size_t bytes, CUstream_st* stream) {
  if (!ordered()) {
    const DeviceScope scope(device_);
    return with_relief([&] { return DeviceMemory::allocate(bytes); });
  }
  CUstream_st* const order = stream == nullptr ? own_.get() : stream;
  void* data = with_relief(
      [&] { return OrderedMemory::allocate(handle_, bytes + HostBuffer::kTailPadding, order); });
  if (stream == nullptr) own_.wait();
  return data;
}

void MemoryPool::release(void* data, CUstream_st* stream) noexcept {
  if (data == nullptr) return;
  try {
    const DeviceScope scope(device_);
    if (!ordered()) {
      DeviceMemory::release(data);
      return;
    }
    if (stream == nullptr) wait_for_device();
  } catch (const Error&) {
    // The device is lost, and the work that used the memory with it.
  }
  if (ordered()) OrderedMemory::release(handle_, data, stream == nullptr ? own_.get() : stream);
}

Stream::Stream(std::shared_ptr<MemoryPool> pool) : Stream(stream_on(pool->device())) {
  pool_ = std::move(pool);
}

}  // namespace headrace::device::cuda
