// The host in a GPU's place: "device" memory is host memory, and a stream is a queue of which
// nothing is done before somebody waits: for it, for an event in it, or for memory to be freed, as
// CUDA does. So memory that is touched too early shows. Fresh memory is poisoned, as nothing may be
// taken for zero. Linked before the device layer, these definitions are taken, and code for a GPU
// runs without one. Safe from any thread.
#include "tests/device/host_stream.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "headrace/device/buffer.hpp"
#include "headrace/device/cuda_device.hpp"

struct CUevent_st {
  std::shared_ptr<struct Mark> mark;  ///< of the last record; null: none
};

/// A place in a queue. Those that wait for it hold it, so that an event may be recorded anew.
struct Mark {
  CUstream_st* stream = nullptr;
  bool passed = false;
  std::chrono::steady_clock::time_point time;
};

namespace headrace::device::cuda {
namespace {

// Only one thread at a time works with queues: to run one, another may have to run first.
std::recursive_mutex& mutex() {
  static std::recursive_mutex one;
  return one;
}

class Queue;
std::set<Queue*>& queues() {
  static std::set<Queue*> all;
  return all;
}

class Queue : public CUstream_st {
 public:
  Queue() {
    const std::lock_guard lock(mutex());
    queues().insert(this);
  }
  ~Queue() override {
    const std::lock_guard lock(mutex());
    run([] { return false; });
    queues().erase(this);
  }
  void put(std::function<void()> work) override {
    const std::lock_guard lock(mutex());
    work_.push_back(std::move(work));
  }
  template <typename Until>
  void run(const Until& until) {
    const std::lock_guard lock(mutex());
    while (!work_.empty() && !until()) {
      const auto next = std::move(work_.front());
      work_.pop_front();
      next();
    }
  }

 private:
  std::deque<std::function<void()>> work_;
};

void run_to(const std::shared_ptr<Mark>& mark) {
  const std::lock_guard lock(mutex());
  if (!mark || mark->passed) return;
  static_cast<Queue*>(mark->stream)->run([&] { return mark->passed; });
}

void finish_everything() {
  const std::lock_guard lock(mutex());
  for (Queue* queue : queues()) queue->run([] { return false; });
}

void* poisoned(std::size_t size_bytes) {
  const std::size_t size = size_bytes + HostBuffer::kTailPadding;
  void* data = std::malloc(size);
  std::memset(data, 0xa5, size);
  return data;
}
void release_poisoned(void* data) {
  if (data == nullptr) return;
  finish_everything();
  std::free(data);
}

}  // namespace

bool cuda_available() noexcept { return true; }
std::string describe() { return "the host in a GPU's place"; }
std::string pci_bus_id() { return {}; }
void use_device(int) {}
int process_device() { return 0; }
std::size_t free_bytes() { return std::size_t{1} << 30; }

Stream::Stream() : stream_(new Queue) {}
Stream::~Stream() { delete stream_; }
Stream& Stream::operator=(Stream&& o) noexcept {
  std::swap(stream_, o.stream_);
  return *this;
}
void Stream::wait() {
  static_cast<Queue*>(stream_)->run([] { return false; });
}

Event::Event(bool) : event_(new CUevent_st) {}
Event::~Event() { delete event_; }
Event& Event::operator=(Event&& o) noexcept {
  std::swap(event_, o.event_);
  return *this;
}
void Event::record(CUstream_st* stream) {
  auto mark = std::make_shared<Mark>();
  mark->stream = stream;
  const auto pass = [mark] {
    mark->passed = true;
    mark->time = std::chrono::steady_clock::now();
  };
  const std::lock_guard lock(mutex());
  event_->mark = mark;
  // The default stream: what was put there is done, as nothing here waits for a GPU.
  if (stream == nullptr) {
    pass();
  } else {
    stream->put(pass);
  }
}
void Event::wait() { run_to(event_->mark); }
void Event::hold(CUstream_st* stream) const {
  const std::lock_guard lock(mutex());
  if (stream == nullptr) {
    run_to(event_->mark);
  } else {
    stream->put([mark = event_->mark] { run_to(mark); });
  }
}
double Event::seconds_to(const Event& later) const {
  return std::chrono::duration<double>(later.event_->mark->time - event_->mark->time).count();
}

void* DeviceMemory::allocate(std::size_t size_bytes) { return poisoned(size_bytes); }
void DeviceMemory::release(void* data) noexcept { release_poisoned(data); }
void* PinnedMemory::allocate(std::size_t size_bytes) { return poisoned(size_bytes); }
void PinnedMemory::release(void* data) noexcept { release_poisoned(data); }

void copy_to_device(void* device, const void* host, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  stream.get()->put([=] { std::memcpy(device, host, size_bytes); });
}
void copy_to_host(void* host, const void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  stream.get()->put([=] { std::memcpy(host, device, size_bytes); });
}
void clear(void* device, std::size_t size_bytes, Stream& stream) {
  if (size_bytes == 0) return;
  stream.get()->put([=] { std::memset(device, 0, size_bytes); });
}
void copy_rows(void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, Stream& stream) {
  stream.get()->put([=] {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch,
                  static_cast<const std::byte*>(from) + row * from_pitch,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

}  // namespace headrace::device::cuda
