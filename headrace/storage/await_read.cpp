#include "headrace/storage/await_read.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace headrace::storage {

void await_read(const std::function<void(const ReadDone&)>& start) {
  std::mutex mutex;
  std::condition_variable ended;
  bool is_done = false;
  std::exception_ptr failed;
  start([&](std::exception_ptr failure) {
    const std::lock_guard lock(mutex);
    failed = std::move(failure);
    is_done = true;
    ended.notify_one();
  });
  std::unique_lock lock(mutex);
  ended.wait(lock, [&] { return is_done; });
  if (failed) std::rethrow_exception(failed);
}

}  // namespace headrace::storage
