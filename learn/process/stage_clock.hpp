#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace headrace::process {

/// Time spent in one stage, summed over threads.
class StageClock {
 public:
  /// Counts time during its lifetime.
  class Running {
   public:
    explicit Running(StageClock& clock) : clock_(clock), start_(std::chrono::steady_clock::now()) {}
    ~Running() {
      clock_.nanoseconds_ += std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now() - start_)
                                 .count();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    StageClock& clock_;
    std::chrono::steady_clock::time_point start_;
  };

  double seconds() const { return static_cast<double>(nanoseconds_) * 1e-9; }

 private:
  std::atomic<std::int64_t> nanoseconds_{0};
};

struct StageClocks {
  StageClock statistics, load, process, save;
};

}  // namespace headrace::process
