#include "headrace/core/ordered_tasks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace headrace {

void run_in_order(ThreadPool& pool, std::size_t count, std::size_t workers,
                  const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t lowest = count;
  std::exception_ptr error;
  pool.parallel_for(std::min(count, workers), [&](std::size_t) {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        body(i);
      } catch (...) {
        failed = true;
        const std::lock_guard lock(mutex);
        if (i < lowest) {
          lowest = i;
          error = std::current_exception();
        }
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace headrace
