#pragma once
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace {

/// A limited number of things to lend: a thread that finds none waits until another thread returns
/// one. Safe from any thread. A thread that holds one must not wait for a second.
template <typename T>
class LimitedPool {
 public:
  /// One on loan; goes back at its end.
  class Lease {
   public:
    explicit Lease(LimitedPool& from) : from_(from), thing_(from.take()) {}
    ~Lease() { from_.put(std::move(thing_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() noexcept { return thing_; }
    T* operator->() noexcept { return &thing_; }

   private:
    LimitedPool& from_;
    T thing_;
  };

  void put(T thing) {
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(thing));
    }
    returned_.notify_one();
  }

  /// The idle ones; call it only when no thread is at work any more.
  std::vector<T>& idle() noexcept { return idle_; }

 private:
  T take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !idle_.empty(); });
    T thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<T> idle_;
};

}  // namespace headrace
