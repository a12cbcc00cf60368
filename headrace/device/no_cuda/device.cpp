#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_pool.hpp"

namespace headrace::device::cuda {
namespace {

constexpr const char* kAbsent = "this build has no CUDA; configure with -DHR_WITH_CUDA=ON";
[[noreturn]] void refuse() { fail(ErrorCode::unsupported, "{}", kAbsent); }

}  // namespace

bool cuda_available() noexcept { return false; }
std::string describe() { return kAbsent; }
std::string pci_bus_id() { return {}; }

int device_count() { refuse(); }
int current_device() noexcept { return 0; }
void use_device(int) { refuse(); }
bool has_context(int) noexcept { return false; }
std::size_t free_bytes() { refuse(); }
void wait_for_device() { refuse(); }

Stream::Stream() { refuse(); }
void Stream::wait() { refuse(); }

Event::Event(bool) { refuse(); }
Event::~Event() = default;
Event& Event::operator=(Event&&) noexcept { return *this; }
void Event::record(CUstream_st*) { refuse(); }
void Event::wait() { refuse(); }
void Event::hold(CUstream_st*) const { refuse(); }
double Event::seconds_to(const Event&) const { refuse(); }

void* DeviceMemory::allocate(std::size_t) { refuse(); }
void DeviceMemory::release(void*) noexcept {}
void* PinnedMemory::allocate(std::size_t) { refuse(); }
void PinnedMemory::release(void*) noexcept {}

CUmemPoolHandle_st* OrderedMemory::create(int) { refuse(); }
void OrderedMemory::destroy(CUmemPoolHandle_st*) noexcept {}
void* OrderedMemory::allocate(CUmemPoolHandle_st*, std::size_t, CUstream_st*) { refuse(); }
void OrderedMemory::release(CUmemPoolHandle_st*, void*, CUstream_st*) noexcept {}

void copy_to_device(void*, const void*, std::size_t, Stream&) { refuse(); }
void copy_to_host(void*, const void*, std::size_t, Stream&) { refuse(); }
void clear(void*, std::size_t, Stream&) { refuse(); }
void copy_rows(void*, std::int64_t, const void*, std::int64_t, std::int64_t, std::int64_t,
               Stream&) {
  refuse();
}

}  // namespace headrace::device::cuda
