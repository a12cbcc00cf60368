// The host in a GPU's place, or in that of several: "device" memory is host memory, and a stream is
// a queue of which nothing is done before somebody waits: for it, for an event in it, or for memory
// to be freed, as CUDA does. So memory that is touched too early shows. Fresh memory is poisoned,
// as nothing may be taken for zero. Every thread has a current GPU, as with CUDA, and what CUDA
// refuses on the wrong one is refused. Linked before the device layer, these definitions are taken,
// and code for a GPU runs without one. Safe from any thread.
#include <atomic>
#include <cstdlib>
#include <map>

#include "headrace/device/buffer.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_pool.hpp"
#include "tests/device/fake_gpus.hpp"
#include "tests/device/host_pool.hpp"

struct CUevent_st {
  int gpu = 0;
  std::shared_ptr<Mark> mark;  ///< of the last record; null: none
};

namespace headrace::device::cuda {
namespace fixtures {
namespace {

struct Gpu {
  std::size_t free = kGpuBytes;
  bool used = false;  ///< has a context
  std::unique_ptr<Queue> default_queue;
};

struct Area {
  std::size_t size;
  int gpu;
};

struct Machine {
  std::vector<Gpu> gpus = std::vector<Gpu>(4);
  bool pools = true;
  Allocations counts;
  std::size_t copied = 0;                  ///< to devices
  std::map<const std::byte*, Area> areas;  ///< of device memory
};

Machine& machine() {
  static auto* one = new Machine;  // threads and statics may end after it would have
  return *one;
}

thread_local int current = 0;

Gpu& current_gpu() {
  Gpu& gpu = machine().gpus.at(static_cast<std::size_t>(current));
  std::atomic_ref(gpu.used).store(true, std::memory_order_relaxed);  // by any thread
  return gpu;
}

Queue& queue_of(CUstream_st* stream) {
  return *static_cast<Queue*>(stream == nullptr ? default_stream(current) : stream);
}

void* poisoned(std::size_t size) {
  void* data = std::malloc(size);
  std::memset(data, 0xa5, size);
  return data;
}

std::byte* take(int gpu, std::size_t size) {
  const std::lock_guard lock(mutex());
  Gpu& from = machine().gpus.at(static_cast<std::size_t>(gpu));
  if (size > from.free) fail(ErrorCode::memory, "CUDA: out of memory (the host in a GPU's place)");
  from.free -= size;
  auto* data = static_cast<std::byte*>(poisoned(size));
  machine().areas[data] = {size, gpu};
  return data;
}

void give_back(std::byte* data) {
  const std::lock_guard lock(mutex());
  const auto it = machine().areas.find(data);
  const auto gpu = static_cast<std::size_t>(it->second.gpu);
  // It may be a GPU of an earlier test.
  if (gpu < machine().gpus.size()) machine().gpus[gpu].free += it->second.size;
  machine().areas.erase(it);
  std::free(data);
}

/// Throws where `place` is memory of another GPU. CUDA would copy, over a bus or the host: nothing
/// here is meant to.
void check_place(const void* place, const Queue& queue) {
  const auto* data = static_cast<const std::byte*>(place);
  const auto& areas = machine().areas;
  auto it = areas.upper_bound(data);
  if (it == areas.begin() || data >= (--it)->first + it->second.size) return;
  if (it->second.gpu == queue.gpu()) return;
  fail(ErrorCode::device, "CUDA: memory of GPU {} in a stream of GPU {}", it->second.gpu,
       queue.gpu());
}

}  // namespace

void set_gpus(int count, std::size_t bytes_each, bool pools) {
  const std::lock_guard lock(mutex());
  finish_everything();
  machine().gpus.clear();
  for (int i = 0; i < count; ++i) machine().gpus.push_back({bytes_each, false, nullptr});
  machine().pools = pools;
  machine().counts = {};
  machine().copied = 0;
  current = 0;
}

std::set<int> used_gpus() {
  const std::lock_guard lock(mutex());
  std::set<int> used;
  for (std::size_t i = 0; i < machine().gpus.size(); ++i) {
    if (std::atomic_ref(machine().gpus[i].used).load()) used.insert(static_cast<int>(i));
  }
  return used;
}

CUstream_st* default_stream(int gpu) {
  const std::lock_guard lock(mutex());
  Gpu& of = machine().gpus.at(static_cast<std::size_t>(gpu));
  if (!of.default_queue) of.default_queue = std::make_unique<Queue>(gpu);
  return of.default_queue.get();
}

void finish(CUstream_st* stream) { queue_of(stream).finish(); }

Allocations allocations() {
  const std::lock_guard lock(mutex());
  return machine().counts;
}

std::size_t copied_to_device() {
  const std::lock_guard lock(mutex());
  return machine().copied;
}

}  // namespace fixtures

using fixtures::check_place;
using fixtures::current_gpu;
using fixtures::machine;
using fixtures::queue_of;

bool cuda_available() noexcept { return true; }
std::string describe() { return "the host in a GPU's place"; }
std::string pci_bus_id() { return {}; }
int device_count() { return static_cast<int>(machine().gpus.size()); }
int current_device() noexcept { return fixtures::current; }
void use_device(int index) {
  const std::lock_guard lock(fixtures::mutex());
  if (index < 0 || index >= device_count()) {
    fail(ErrorCode::device, "CUDA: invalid device ordinal {}", index);
  }
  fixtures::current = index;
  current_gpu();
}
bool has_context(int device) noexcept {
  const std::lock_guard lock(fixtures::mutex());
  return std::atomic_ref(machine().gpus[static_cast<std::size_t>(device)].used).load();
}
std::size_t free_bytes() {
  const std::lock_guard lock(fixtures::mutex());
  return current_gpu().free;
}
void wait_for_device() {
  current_gpu();
  fixtures::finish_everything();
}

Stream::Stream() : stream_(new fixtures::Queue(current_device())), device_(current_device()) {
  current_gpu();
}
void Stream::wait() { queue_of(get()).finish(); }

Event::Event(bool) : event_(new CUevent_st{current_device(), nullptr}) { current_gpu(); }
Event::~Event() { delete event_; }
Event& Event::operator=(Event&& o) noexcept {
  std::swap(event_, o.event_);
  return *this;
}
void Event::record(CUstream_st* stream) {
  const std::lock_guard lock(fixtures::mutex());
  fixtures::Queue& queue = queue_of(stream);
  if (queue.gpu() != event_->gpu) {
    fail(ErrorCode::device, "CUDA: invalid resource handle: an event of GPU {}, stream of GPU {}",
         event_->gpu, queue.gpu());
  }
  event_->mark = queue.mark();
}
void Event::wait() { fixtures::run_to(event_->mark); }
void Event::hold(CUstream_st* stream) const {
  const std::lock_guard lock(fixtures::mutex());
  queue_of(stream).add([mark = event_->mark] { fixtures::run_to(mark); });
}
double Event::seconds_to(const Event& later) const {
  return std::chrono::duration<double>(later.event_->mark->time - event_->mark->time).count();
}

void* DeviceMemory::allocate(std::size_t size_bytes) {
  const std::lock_guard lock(fixtures::mutex());
  ++machine().counts.plain;
  current_gpu();
  fixtures::finish_everything();
  return fixtures::take(current_device(), size_bytes + HostBuffer::kTailPadding);
}
void DeviceMemory::release(void* data) noexcept {
  if (data == nullptr) return;
  const std::lock_guard lock(fixtures::mutex());
  ++machine().counts.plain;
  fixtures::finish_everything();
  fixtures::give_back(static_cast<std::byte*>(data));
}
void* PinnedMemory::allocate(std::size_t size_bytes) {
  return fixtures::poisoned(size_bytes + HostBuffer::kTailPadding);
}
void PinnedMemory::release(void* data) noexcept {
  if (data == nullptr) return;
  fixtures::finish_everything();
  std::free(data);
}

CUmemPoolHandle_st* OrderedMemory::create(int device) {
  if (!machine().pools) return nullptr;
  const auto grow = [device](std::size_t size) {
    std::byte* data = fixtures::take(device, size);
    ++machine().counts.grown;
    return data;
  };
  return new CUmemPoolHandle_st(device, grow,
                                [](std::byte* data, std::size_t) { fixtures::give_back(data); });
}
void OrderedMemory::destroy(CUmemPoolHandle_st* pool) noexcept {
  const std::lock_guard lock(fixtures::mutex());
  delete pool;
}
void* OrderedMemory::allocate(CUmemPoolHandle_st* pool, std::size_t bytes, CUstream_st* stream) {
  const std::lock_guard lock(fixtures::mutex());
  return pool->take(bytes, queue_of(stream));
}
void OrderedMemory::release(CUmemPoolHandle_st* pool, void* data, CUstream_st* stream) noexcept {
  const std::lock_guard lock(fixtures::mutex());
  pool->give_back(static_cast<std::byte*>(data), queue_of(stream));
}

void copy_to_device(void* device, const void* host, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  const std::lock_guard lock(fixtures::mutex());
  check_place(device, queue_of(stream.get()));
  machine().copied += size_bytes;
  queue_of(stream.get()).add([=] { std::memcpy(device, host, size_bytes); });
}
void copy_to_host(void* host, const void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  const std::lock_guard lock(fixtures::mutex());
  check_place(device, queue_of(stream.get()));
  queue_of(stream.get()).add([=] { std::memcpy(host, device, size_bytes); });
}
void clear(void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  const std::lock_guard lock(fixtures::mutex());
  check_place(device, queue_of(stream.get()));
  queue_of(stream.get()).add([=] { std::memset(device, 0, size_bytes); });
}
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, Stream& stream) {
  const std::lock_guard lock(fixtures::mutex());
  check_place(to, queue_of(stream.get()));
  check_place(from, queue_of(stream.get()));
  queue_of(stream.get()).add([=] {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                  static_cast<const std::byte*>(from) + row * from_pitch,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

}  // namespace headrace::device::cuda
