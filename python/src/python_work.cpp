#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/progress.hpp"
#include "python/src/python_calls.hpp"

namespace headrace::python {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLook{100};

struct Shown {
  std::string title, unit;
  std::uint64_t done = 0, total = 0;
};

/// Work on a thread of its own, as the thread that waits for it sees it.
class Work {
 public:
  Work(const std::function<std::string()>& body, std::shared_ptr<CancelRequest> cancel)
      : cancel_(std::move(cancel)), thread_([this, &body] { run(body); }) {}
  ~Work() { end(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  void show(Shown shown) {
    const std::lock_guard lock(mutex_);
    shown_ = std::move(shown);
  }
  /// What was shown since the last call.
  std::optional<Shown> take_shown() {
    const std::lock_guard lock(mutex_);
    return std::exchange(shown_, std::nullopt);
  }
  /// Waits at most `kLook`; whether it has ended.
  bool wait() {
    const nb::gil_scoped_release released;
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kLook, [this] { return over_; });
  }
  std::string result() {
    end();
    if (error_) std::rethrow_exception(error_);
    return std::move(result_);
  }

  static Work*& of_this_thread() {
    thread_local Work* work = nullptr;
    return work;
  }

 private:
  void run(const std::function<std::string()>& body) {
    of_this_thread() = this;
    try {
      const CancelScope scope(cancel_);
      result_ = body();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    over_ = true;
    ended_.notify_all();
  }
  /// Asks it to end where it has not, and waits.
  void end() {
    if (!thread_.joinable()) return;
    const nb::gil_scoped_release released;
    {
      const std::lock_guard lock(mutex_);
      if (!over_) cancel_->ask();
    }
    thread_.join();
  }

  const std::shared_ptr<CancelRequest> cancel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::optional<Shown> shown_;
  std::string result_;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses all others
};

/// Leaves the newest state with the work, for the thread that waits for it.
class Display : public ProgressDisplay {
 public:
  explicit Display(Work& work) : work_(work) {}
  milliseconds first() const override { return milliseconds(0); }
  milliseconds every() const override { return kLook; }
  void show(const ProgressState& state, bool) override {
    work_.show({std::string(state.title), std::string(state.unit), state.done, state.total});
  }

 private:
  Work& work_;  ///< outlives the Progress, which is made below it
};

void tell(const nb::object& show, Work& work) {
  const std::optional<Shown> shown = work.take_shown();
  if (shown && !show.is_none()) show(shown->done, shown->total, shown->title, shown->unit);
}

}  // namespace

std::string run_work(const std::function<std::string()>& body, const nb::object& show) {
  const auto cancel = std::make_shared<CancelRequest>();
  const PythonCalls calls(cancel);
  if (!calls) fail(ErrorCode::cancelled, "Python is ending; nothing is begun any more");
  Work work(body, cancel);
  while (!work.wait()) {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    tell(show, work);
  }
  tell(show, work);
  return work.result();
}

void show_progress_to_python() {
  show_progress_by([]() -> std::unique_ptr<ProgressDisplay> {
    Work* work = Work::of_this_thread();
    return work == nullptr ? nullptr : std::make_unique<Display>(*work);
  });
}

}  // namespace headrace::python
