#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace headrace {

/// Progress of long work on standard error: a bar on a terminal, elsewhere a plain line every half
/// minute, so that a log shows that the work goes on and how long it will take.
/// Safe from any thread.
class Progress {
 public:
  /// title: what is done; total: how many `unit`s make the whole (0: not known).
  /// plain_every: time between lines where there is no terminal.
  Progress(std::string title, std::uint64_t total, std::string unit,
           std::chrono::milliseconds plain_every = std::chrono::seconds(30));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The part that was finished earlier and took no time now, as after a resume.
  void begin_at(std::uint64_t done);
  void advance(std::uint64_t count = 1);
  /// Text for the next lines: "loss 0.53".
  void note(std::string text);

 private:
  void draw(bool last);
  void say();

  std::string title_, unit_, note_;
  std::uint64_t total_, begun_at_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_draw_ms_{0};
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  bool visible_;
  std::int64_t every_ms_;
};

}  // namespace headrace
