#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace headrace {

/// A bounded set of worker threads, also in a forked process (HelperThreads). Work is given out
/// dynamically; nothing that reaches a result may depend on which thread ran what.
class ThreadPool {
 public:
  /// threads: 0 means one for each core. The calling thread is one of them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept { return size_; }

  /// Runs body(i) for every i in [0, count) and waits. All indices are tried; if some throw, the
  /// exception of the lowest index is rethrown, so the same input gives the same error for any
  /// number of threads. One thread takes `grain` indices at a time. Below a CancelScope
  /// (cancel.hpp) also `cancelled`.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                    std::size_t grain = 1);

 private:
  struct State;
  int size_;
  std::unique_ptr<State> state_;
};

/// Cores this process may use (its affinity mask).
int available_cores() noexcept;

}  // namespace headrace
