#include "headrace/core/threads.hpp"

#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "headrace/core/cancel.hpp"
#include "headrace/core/error.hpp"

// gcc and clang signal in different ways that ThreadSanitizer is on.
#if defined(__SANITIZE_THREAD__)
#define HR_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HR_UNDER_TSAN 1
#endif
#endif

namespace headrace {
namespace {

#if !defined(HR_UNDER_TSAN)
/// oneTBB gives out at most one worker a core, and warns on standard error, unless told otherwise.
/// A caller that asks for seven threads on two cores gets seven: each arena's size is the bound.
void allow_more_threads_than_cores() {
  static const tbb::global_control allowed(
      tbb::global_control::max_allowed_parallelism,
      static_cast<std::size_t>(std::max(256, 2 * available_cores())));
}
#endif

using Ranges = std::function<void(std::size_t begin, std::size_t end)>;

#if defined(HR_UNDER_TSAN)
// ThreadSanitizer does not see what happens inside Debian's oneTBB, which is built without it, and
// reports every hand-over there as a race. With it on, plain threads share the work, so that every
// report is about our code.
class Workers {
 public:
  explicit Workers(int threads) : threads_(threads) {}
  void run(std::size_t count, std::size_t grain, const Ranges& body) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i; (i = next.fetch_add(grain)) < count;) body(i, std::min(i + grain, count));
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }

 private:
  int threads_;
};
#else
class Workers {
 public:
  explicit Workers(int threads) : arena_(threads) { allow_more_threads_than_cores(); }
  void run(std::size_t count, std::size_t grain, const Ranges& body) {
    const auto loop = [&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, count, grain),
          [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); },
          tbb::simple_partitioner());
    };
    // Isolated: a thread that waits for a nested loop must not start another piece of the outer
    // one.
    arena_.execute([&] { tbb::this_task_arena::isolate(loop); });
  }

 private:
  tbb::task_arena arena_;
};
#endif
}  // namespace

struct ThreadPool::State {
  explicit State(int threads) : workers(threads) {}
  Workers workers;
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
    state_->workers.run(count, std::max<std::size_t>(grain, 1), guarded);
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
