#pragma once
#include <functional>
#include <memory>
#include <string>

#include "headrace/core/cancel.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

/// Held while library threads may call Python, so that the interpreter's end waits for them
/// (close_python_calls). False where it has ended already: call nothing then. Safe from any thread.
class PythonCalls {
 public:
  /// cancel: asked at the interpreter's end; may be null.
  explicit PythonCalls(std::shared_ptr<CancelRequest> cancel = nullptr);
  ~PythonCalls();
  PythonCalls(const PythonCalls&) = delete;
  PythonCalls& operator=(const PythonCalls&) = delete;

  explicit operator bool() const noexcept { return open_; }

 private:
  std::shared_ptr<CancelRequest> cancel_;
  bool open_;
};

/// From here on no library thread calls Python: work under way is cancelled and waited for. Called
/// once with the GIL, by `atexit`, before Python takes its threads down.
void close_python_calls();

/// Runs body on a thread of its own, and waits for it without the GIL. Meanwhile Ctrl-C (or any
/// other exception of a signal handler) cancels it, and its progress goes to `show(done, total,
/// title, unit)`, called on this thread at most ten times a second; None: not. Returns what body
/// returns. Call it with the GIL. Errors: those of body, of a signal handler, and of `show`, which
/// cancels too.
std::string run_work(const std::function<std::string()>& body, const nb::object& show);

/// From here on the library's log goes to Python's logger "headrace".
void log_to_python();

/// From here on the progress of what run_work runs goes to its `show`.
void show_progress_to_python();

}  // namespace headrace::python
