// The host in a GPU's place: "device" memory is host memory, a stream does at once what is put into
// it. Linked before the device layer, these definitions are taken, and code for a GPU runs without
// one. Fresh memory is poisoned, as nothing may be taken for zero.
#include <cstdlib>
#include <cstring>

#include "headrace/device/buffer.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {
namespace {

void* poisoned(std::size_t size_bytes) {
  const std::size_t size = size_bytes + HostBuffer::kTailPadding;
  void* data = std::malloc(size);
  std::memset(data, 0xa5, size);
  return data;
}

}  // namespace

bool cuda_available() noexcept { return true; }
std::string describe() { return "the host in a GPU's place"; }

Stream::Stream() = default;
Stream::~Stream() = default;
Stream& Stream::operator=(Stream&&) noexcept { return *this; }
void Stream::wait() {}

Event::Event(bool) {}
Event::~Event() = default;
Event& Event::operator=(Event&&) noexcept { return *this; }
void Event::record(CUstream_st*) {}
void Event::wait() {}
void Event::hold(CUstream_st*) const {}

void* DeviceMemory::allocate(std::size_t size_bytes) { return poisoned(size_bytes); }
void DeviceMemory::release(void* data) noexcept { std::free(data); }
void* PinnedMemory::allocate(std::size_t size_bytes) { return poisoned(size_bytes); }
void PinnedMemory::release(void* data) noexcept { std::free(data); }

void copy_to_device(void* device, const void* host, std::size_t size_bytes, Stream&) {
  std::memcpy(device, host, size_bytes);
}
void copy_to_host(void* host, const void* device, std::size_t size_bytes, Stream&) {
  std::memcpy(host, device, size_bytes);
}

}  // namespace headrace::device::cuda
