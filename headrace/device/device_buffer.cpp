#include <utility>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_pool.hpp"
#include "headrace/device/memory_relief.hpp"

namespace headrace::device::cuda {

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& o) noexcept {
  if (this == &o) return *this;
  release();
  data_ = std::exchange(o.data_, nullptr);
  size_ = std::exchange(o.size_, 0);
  pool_ = std::move(o.pool_);
  order_ = std::move(o.order_);
  return *this;
}

void DeviceBuffer::reserve(std::size_t size_bytes) {
  if (size_bytes <= size_) return;
  release();
  data_ = with_relief([&] { return DeviceMemory::allocate(size_bytes); });
  size_ = size_bytes;
}

void DeviceBuffer::reserve(std::size_t size_bytes, const Stream& stream) {
  if (stream.pool_ == nullptr) {
    reserve(size_bytes);
    return;
  }
  if (size_bytes <= size_) return;
  release();
  data_ = stream.pool_->allocate(size_bytes, stream.get());
  size_ = size_bytes;
  pool_ = stream.pool_;
  order_ = stream.stream_;
}

void DeviceBuffer::used_until(const Event& event) {
  if (order_ != nullptr) event.hold(order_.get());
}

void DeviceBuffer::release() noexcept {
  void* data = std::exchange(data_, nullptr);
  size_ = 0;
  if (pool_ != nullptr) {
    pool_->release(data, order_.get());
  } else {
    DeviceMemory::release(data);
  }
  pool_.reset();
  order_.reset();
}

void PinnedBuffer::reserve(std::size_t size_bytes) {
  if (size_bytes <= size_) return;
  const std::size_t grown = data_ == nullptr ? size_bytes : size_bytes + size_bytes / 8;
  PinnedMemory::release(std::exchange(data_, nullptr));
  size_ = 0;
  data_ = PinnedMemory::allocate(grown);
  size_ = grown;
}

}  // namespace headrace::device::cuda
