#include "headrace/storage/disk_cache_work.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::storage {
namespace {

constexpr std::size_t kMostWaiting = 64 << 20;

}  // namespace

struct DiskCacheWork::Queue {
  struct Write {
    std::size_t bytes;
    std::function<void()> work;
  };
  std::mutex mutex;
  std::condition_variable some, none;
  std::deque<std::function<void()>> reads;
  std::deque<Write> writes;
  std::size_t waiting_bytes = 0;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      some.wait(lock, [&] { return !reads.empty() || !writes.empty(); });
      std::function<void()> work;
      std::size_t bytes = 0;
      if (!reads.empty()) {
        work = std::move(reads.front());
        reads.pop_front();
      } else {
        work = std::move(writes.front().work);
        bytes = writes.front().bytes;
        writes.pop_front();
      }
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      waiting_bytes -= bytes;
      if (waiting_bytes == 0) none.notify_all();
    }
  }
};

// As many as cores: checksums take a core's time, and a disk is faster when it is asked several things.
DiskCacheWork::DiskCacheWork() : queue_(std::make_shared<Queue>()) {
  const int threads = std::clamp(available_cores(), 2, 16);
  for (int i = 0; i < threads; ++i) {
    try {
      std::thread([queue = queue_] { queue->run(); }).detach();
    } catch (const std::system_error& error) {
      if (i == 0) fail(ErrorCode::memory, "a thread of the disk cache: {}", error.what());
      return;  // fewer do
    }
  }
}

void DiskCacheWork::read(std::function<void()> work) {
  {
    const std::lock_guard lock(queue_->mutex);
    queue_->reads.push_back(std::move(work));
  }
  queue_->some.notify_one();
}

bool DiskCacheWork::write(std::size_t bytes, std::function<void()> work) {
  {
    const std::lock_guard lock(queue_->mutex);
    if (queue_->waiting_bytes + bytes > kMostWaiting) return false;
    queue_->waiting_bytes += bytes;
    queue_->writes.push_back({bytes, std::move(work)});
  }
  queue_->some.notify_one();
  return true;
}

void DiskCacheWork::drain(std::chrono::milliseconds most) {
  std::unique_lock lock(queue_->mutex);
  queue_->none.wait_for(lock, most, [&] { return queue_->waiting_bytes == 0; });
}

}  // namespace headrace::storage
