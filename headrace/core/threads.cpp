#include "headrace/core/threads.hpp"

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>

namespace headrace {

namespace {
/// oneTBB gives out at most one worker a core, and warns on standard error, unless told otherwise.
/// Who asks for seven threads on two cores gets seven: each arena's size is the bound.
void allow_more_threads_than_cores() {
  static const tbb::global_control allowed(
      tbb::global_control::max_allowed_parallelism,
      static_cast<std::size_t>(std::max(256, 2 * available_cores())));
}
}  // namespace

struct ThreadPool::State {
  tbb::task_arena arena;
  explicit State(int threads) : arena(threads) { allow_more_threads_than_cores(); }
};

ThreadPool::ThreadPool(int threads)
    : size_(threads > 0 ? threads : available_cores()), state_(std::make_unique<State>(size_)) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                              std::size_t grain) {
  std::mutex mutex;
  std::size_t first_failed = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error;
  const auto guarded = [&](std::size_t i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i < first_failed) {
        first_failed = i;
        error = std::current_exception();
      }
    }
  };
  if (size_ == 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  } else {
    const auto run = [&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, count, grain),
          [&](const tbb::blocked_range<std::size_t>& range) {
            for (std::size_t i = range.begin(); i != range.end(); ++i) guarded(i);
          },
          tbb::simple_partitioner());
    };
    // Isolated: a thread that waits for a nested loop must not start another piece of the outer
    // one.
    state_->arena.execute([&] { tbb::this_task_arena::isolate(run); });
  }
  if (error) std::rethrow_exception(error);
}

int available_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace headrace
