#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::view {

/// Threads that run tasks in the order in which they came. Unlike ThreadPool, whoever adds a task
/// does not wait for it. Safe from any thread.
class WorkQueue {
 public:
  /// stopping: the queue ends, and the task is only to be finished with.
  using Task = std::function<void(bool stopping)>;

  explicit WorkQueue(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~WorkQueue() {
    stop(0);
    for (std::thread& thread : threads_) thread.join();
  }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// After stop() the task runs here.
  void add(const Task& task) {
    {
      const std::lock_guard lock(mutex_);
      if (!stopping_) {
        tasks_.push_back(task);
        added_.notify_one();
        return;
      }
    }
    task(true);
  }

  /// Tasks that have not begun, and later ones, are told to stop. Returns whether none is at work
  /// any more within `seconds`.
  bool stop(double seconds) {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    added_.notify_all();
    return ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [this] { return tasks_.empty() && at_work_ == 0; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      added_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      ++at_work_;
      const bool stopping = stopping_;
      lock.unlock();
      task(stopping);
      lock.lock();
      --at_work_;
      if (tasks_.empty() && at_work_ == 0) ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_, ended_;
  std::deque<Task> tasks_;
  int at_work_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace headrace::view
