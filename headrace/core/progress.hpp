#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace headrace {

/// A progress bar on standard error for long work; silent when standard error is not a terminal.
/// Safe from any thread.
class Progress {
 public:
  /// title: what is done; total: how many `unit`s make the whole (0: not known).
  Progress(std::string title, std::uint64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t count = 1);

 private:
  void draw(bool last);

  std::string title_, unit_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ms_{0};
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  bool visible_;
};

}  // namespace headrace
