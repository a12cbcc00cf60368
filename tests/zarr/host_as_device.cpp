// The host in a GPU's place: "device" memory is host memory, a stream does at once what is put into
// it. Linked before the device layer and the kernels of zarr, these definitions are taken, and all
// of DeviceDecoder runs without a GPU. Fresh memory is poisoned, as nothing may be taken for zero.
#include <cstdlib>
#include <cstring>

#include "headrace/device/buffer.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/zarr/cuda/drivers.hpp"

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

namespace headrace::zarr::cuda {

void place(const PlacementTable& table, const std::uint8_t* encoded, const std::uint8_t* decoded,
           std::uint8_t* out, const char*, device::cuda::Stream&) {
  for (std::size_t i = 0; i < table.count; ++i) {
    const Placement& p = table.placements[i];
    for (std::int32_t unit = 0; unit < table.most_units; ++unit) {
      if (unit < p.units()) place_unit(p, p.packed != 0 ? encoded : decoded, out, unit);
    }
  }
}

}  // namespace headrace::zarr::cuda
