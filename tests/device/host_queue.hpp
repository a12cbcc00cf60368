#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "tests/device/host_stream.hpp"

/// A place in a queue. Those that wait for it hold it, so that an event may be recorded anew.
struct Mark {
  CUstream_st* stream = nullptr;
  bool passed = false;
  std::chrono::steady_clock::time_point time{};
};

namespace headrace::device::cuda::fixtures {

// Only one thread at a time works with queues: to run one, another may have to run first.
inline std::recursive_mutex& mutex() {
  static std::recursive_mutex one;
  return one;
}

class Queue;
inline std::set<Queue*>& queues() {
  static std::set<Queue*> all;
  return all;
}

/// A stream of one GPU, of which nothing is done before somebody waits.
class Queue : public CUstream_st {
 public:
  explicit Queue(int gpu) : gpu_(gpu) {
    const std::lock_guard lock(mutex());
    queues().insert(this);
  }
  ~Queue() override {
    const std::lock_guard lock(mutex());
    run([] { return false; });
    queues().erase(this);
  }
  int gpu() const noexcept { return gpu_; }

  /// A launch. As CUDA's, it fails where the thread's GPU is not the stream's.
  void put(std::function<void()> work) override {
    if (current_device() != gpu_) {
      fail(ErrorCode::device, "CUDA: invalid resource handle: a launch on GPU {}, stream of GPU {}",
           current_device(), gpu_);
    }
    add(std::move(work));
  }
  /// A copy, an event: they may come from any thread.
  void add(std::function<void()> work) {
    const std::lock_guard lock(mutex());
    work_.push_back(std::move(work));
  }
  std::shared_ptr<Mark> mark() {
    auto mark = std::make_shared<Mark>();
    mark->stream = this;
    add([mark] {
      mark->passed = true;
      mark->time = std::chrono::steady_clock::now();
    });
    return mark;
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
  void finish() {
    run([] { return false; });
  }

 private:
  const int gpu_;
  std::deque<std::function<void()>> work_;
};

inline void run_to(const std::shared_ptr<Mark>& mark) {
  const std::lock_guard lock(mutex());
  if (!mark || mark->passed) return;
  static_cast<Queue*>(mark->stream)->run([&] { return mark->passed; });
}

inline void finish_everything() {
  const std::lock_guard lock(mutex());
  for (Queue* queue : queues()) queue->finish();
}

}  // namespace headrace::device::cuda::fixtures
