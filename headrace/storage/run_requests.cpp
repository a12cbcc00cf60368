#include "headrace/storage/run_requests.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

namespace headrace::storage {
namespace {

class Requests {
 public:
  Requests(const StartRequest& start, const RequestFailed& failed)
      : start_(start), failed_(failed) {}

  void begin(std::size_t i) {
    {
      const std::lock_guard lock(mutex_);
      ++under_way_;
    }
    try {
      start_(i, [this, i](std::exception_ptr failure) { end(i, failure); });
    } catch (...) {  // none was begun
      end(i, std::current_exception());
    }
  }

  void end(std::size_t i, const std::exception_ptr& failure) {
    std::exception_ptr other;
    if (failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const Error& error) {
        tell(i, error);
      } catch (...) {
        other = failure;
      }
    }
    const std::lock_guard lock(mutex_);
    if (other && i < lowest_) {
      lowest_ = i;
      other_ = other;
    }
    if (--under_way_ == 0) none_left_.notify_one();
  }

  /// Where requests end nothing may be thrown.
  void tell(std::size_t i, const Error& error) noexcept { failed_(i, error); }

  /// For those that were begun; then throws, if there is a reason to.
  void wait(const std::exception_ptr& why_not_all) {
    std::unique_lock lock(mutex_);
    none_left_.wait(lock, [&] { return under_way_ == 0; });
    if (other_) std::rethrow_exception(other_);
    if (why_not_all) std::rethrow_exception(why_not_all);
  }

 private:
  const StartRequest& start_;
  const RequestFailed& failed_;
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t under_way_ = 0, lowest_ = ~std::size_t{0};
  std::exception_ptr other_;
};

}  // namespace

void run_requests(ThreadPool* pool, std::size_t count,
                  const std::function<bool(std::size_t)>& asynchronous, const StartRequest& start,
                  const RequestFailed& failed) {
  Requests requests(start, failed);
  std::vector<std::size_t> by_thread;
  for (std::size_t i = 0; i < count; ++i) {
    if (asynchronous(i)) {
      requests.begin(i);
    } else {
      by_thread.push_back(i);
    }
  }
  std::exception_ptr cancelled;
  try {
    if (pool != nullptr) {
      pool->parallel_for(by_thread.size(), [&](std::size_t i) { requests.begin(by_thread[i]); });
    } else {
      for (const std::size_t i : by_thread) requests.begin(i);
    }
  } catch (...) {
    cancelled = std::current_exception();
  }
  requests.wait(cancelled);  // what is under way still writes
}

}  // namespace headrace::storage
