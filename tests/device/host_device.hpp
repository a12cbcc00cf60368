#pragma once
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/device/device.hpp"

/// A device on the host that is as hard on its users as a GPU: nothing is done before wait(), so
/// that memory which is touched too early shows; memory is poisoned; a copy may only touch what it
/// was given of the right kind; the most that was held is counted. A layer's test adds its passes:
/// the GPU's, one result at a time.
namespace headrace::device::fixtures {

class HostMemory {
 public:
  explicit HostMemory(std::size_t device_bytes) : device_bytes_(device_bytes) {}

  /// Throws unless [p, p + bytes) lies in one area of that kind.
  void check(const void* place, std::int64_t bytes, bool device) {
    const auto* p = static_cast<const std::uint8_t*>(place);
    const std::lock_guard lock(mutex_);
    auto it = areas_.upper_bound(p);
    if (it == areas_.begin() || bytes < 0) throw std::logic_error("memory of nobody");
    --it;
    if (it->second.device != device || p + bytes > it->first + it->second.bytes) {
      throw std::logic_error(device ? "no device memory" : "no memory of the host");
    }
  }
  void check_rows(const std::uint8_t* p, std::int64_t pitch, std::int64_t row_bytes,
                  std::int64_t rows, bool device) {
    if (rows <= 0 || row_bytes <= 0) return;
    if (row_bytes > pitch) throw std::logic_error("rows overlap");
    check(p, (rows - 1) * pitch + row_bytes, device);
  }

  static Memory taken(const std::shared_ptr<HostMemory>& from, std::size_t bytes, bool device) {
    auto memory = std::make_unique<std::vector<std::uint8_t>>(bytes, std::uint8_t{0xA5});
    std::uint8_t* data = memory->data();
    {
      const std::lock_guard lock(from->mutex_);
      if (device && from->held_ + bytes > from->device_bytes_) {
        fail(ErrorCode::memory, "no device memory is left");
      }
      if (device) from->held_ += bytes;
      from->peak_ = std::max(from->peak_, from->held_);
      if (bytes > 0) from->areas_[data] = {bytes, device};
    }
    return {data, [memory = memory.release(), from, device](std::uint8_t* p) {
              const std::lock_guard lock(from->mutex_);
              from->areas_.erase(p);
              if (device) from->held_ -= memory->size();
              delete memory;
            }};
  }

  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return device_bytes_ - held_;
  }
  std::size_t peak() const { return peak_; }
  std::size_t held() const { return held_; }
  void fail_after_waits(int waits) { waits_left_ = waits; }
  void waited() {
    const std::lock_guard lock(mutex_);
    if (waits_left_ >= 0 && waits_left_-- == 0) fail(ErrorCode::device, "CUDA: a kernel failed");
  }
  void count_pass() { ++passes_; }
  int passes() const { return passes_; }

 private:
  struct Area {
    std::size_t bytes;
    bool device;
  };
  std::mutex mutex_;
  std::map<const std::uint8_t*, Area> areas_;
  std::size_t device_bytes_, held_ = 0, peak_ = 0;
  int waits_left_ = -1;
  std::atomic<int> passes_{0};
};

/// A queue whose work is done when it is waited for. `Base`: Queue, or what a layer made of it.
template <typename Base>
class HostQueueOf : public Base {
 public:
  explicit HostQueueOf(std::shared_ptr<HostMemory> memory) : memory_(std::move(memory)) {}
  ~HostQueueOf() override { run_all(); }

  void to_device(std::uint8_t* device, std::int64_t device_pitch, const std::uint8_t* host,
                 std::int64_t host_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    memory_->check_rows(device, device_pitch, row_bytes, rows, true);
    memory_->check_rows(host, host_pitch, row_bytes, rows, false);
    copy(device, device_pitch, host, host_pitch, row_bytes, rows);
  }
  void to_host(std::uint8_t* host, std::int64_t host_pitch, const std::uint8_t* device,
               std::int64_t device_pitch, std::int64_t row_bytes, std::int64_t rows) override {
    memory_->check_rows(host, host_pitch, row_bytes, rows, false);
    memory_->check_rows(device, device_pitch, row_bytes, rows, true);
    copy(host, host_pitch, device, device_pitch, row_bytes, rows);
  }
  void clear(std::uint8_t* device, std::int64_t bytes) override {
    memory_->check(device, bytes, true);
    work_.push_back([=] { std::fill_n(device, bytes, std::uint8_t{0}); });
  }
  void wait() override {
    run_all();
    memory_->waited();
  }

 protected:
  void run_all() {
    for (const auto& work : work_) work();
    work_.clear();
  }
  std::shared_ptr<HostMemory> memory_;
  std::vector<std::function<void()>> work_;

 private:
  void copy(std::uint8_t* to, std::int64_t to_pitch, const std::uint8_t* from,
            std::int64_t from_pitch, std::int64_t row_bytes, std::int64_t rows) {
    work_.push_back([=] {
      for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(from + r * from_pitch, row_bytes, to + r * to_pitch);
      }
    });
  }
};

/// `Base`: Device, or what a layer made of it, without its queue().
template <typename Base>
class HostDeviceOf : public Base {
 public:
  explicit HostDeviceOf(std::size_t device_bytes = std::size_t{1} << 40)
      : memory_(std::make_shared<HostMemory>(device_bytes)) {}

  std::string name() const override { return "the host"; }
  std::size_t free_bytes() const override { return memory_->free_bytes(); }
  Memory device_memory(std::size_t bytes) override {
    return HostMemory::taken(memory_, bytes, true);
  }
  Memory host_memory(std::size_t bytes) override {
    return HostMemory::taken(memory_, bytes, false);
  }

  std::size_t peak_device_bytes() const { return memory_->peak(); }
  std::size_t held_device_bytes() const { return memory_->held(); }
  /// Passes that were put into its queues and counted.
  int passes() const { return memory_->passes(); }
  /// The wait() that many waits from now fails, as one does after a kernel that did.
  void fail_after_waits(int waits) { memory_->fail_after_waits(waits); }

 protected:
  std::shared_ptr<HostMemory> memory_;
};

}  // namespace headrace::device::fixtures
