#include "headrace/core/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

#include "headrace/core/cancel.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/helper_threads.hpp"

namespace headrace {

struct ThreadPool::State {
  explicit State(int threads) : helpers(static_cast<std::size_t>(threads) - 1) {}
  HelperThreads helpers;
  const std::shared_ptr<const CancelRequest> cancel = CancelScope::current();
};

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? threads : available_cores()), state_(std::make_unique<State>(size_)) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                              std::size_t grain) {
  std::mutex mutex;
  std::size_t first_failed = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error;
  const CancelRequest* cancel = state_->cancel.get();
  const auto guarded = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i != end; ++i) {
      if (cancel && cancel->asked()) return;
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < first_failed) {
          first_failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  if (size_ == 1 || count <= 1) {
    guarded(0, count);
  } else {
    state_->helpers.run(count, std::max<std::size_t>(grain, 1), guarded);
  }
  if (error) std::rethrow_exception(error);
  if (cancel && cancel->asked())
    fail(ErrorCode::cancelled, "stopped on request; the same call goes on with what is left");
}

int available_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace headrace
