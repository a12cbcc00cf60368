#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace headrace {

/// How far long work has come.
struct ProgressState {
  std::string_view title;      ///< what is done
  std::string_view unit;       ///< of the counts
  std::string_view note;       ///< may be empty: "loss 0.53"
  std::uint64_t done = 0;      ///< of them
  std::uint64_t begun_at = 0;  ///< finished earlier, as before a resume
  std::uint64_t total = 0;     ///< 0: not known
  double seconds = 0;          ///< since the beginning, at least 0.001
};

/// Shows the progress of one work: the program's, since the library prints nothing itself. Used by
/// one thread at a time.
class ProgressDisplay {
 public:
  virtual ~ProgressDisplay() = default;
  /// Time until the first show(), and from each to the next.
  virtual std::chrono::milliseconds first() const = 0;
  virtual std::chrono::milliseconds every() const = 0;
  /// Called when work was done and the time has come, and with `last` once at the end.
  virtual void show(const ProgressState& state, bool last) = 0;
};

/// Makes the display of one work; from any thread.
using MakeProgressDisplay = std::function<std::unique_ptr<ProgressDisplay>()>;

/// How every Progress from here on is shown, for the whole process. Until it is called, or after an
/// empty one, not at all. Safe from any thread.
void show_progress_by(MakeProgressDisplay make);

/// Progress of long work. Safe from any thread.
class Progress {
 public:
  /// title: what is done; total: how many `unit`s make the whole (0: not known).
  Progress(std::string title, std::uint64_t total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The part that was finished earlier and took no time now, as after a resume.
  void begin_at(std::uint64_t done);
  void advance(std::uint64_t count = 1);
  /// Text for the next lines: "loss 0.53".
  void note(std::string text);

 private:
  void show(bool last);

  std::string title_, unit_, note_;
  std::uint64_t total_, begun_at_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::int64_t> next_show_ms_{0};
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::unique_ptr<ProgressDisplay> display_;  ///< may be null
  std::int64_t every_ms_ = 0;
};

}  // namespace headrace
