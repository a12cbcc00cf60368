#include "python/src/python_calls.hpp"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

namespace headrace::python {
namespace {

/// Never destroyed: a library thread may outlive main.
struct Gate {
  std::mutex mutex;
  std::condition_variable idle;
  bool open = true;
  std::size_t inside = 0;
  std::multiset<std::shared_ptr<CancelRequest>> cancels;
  pid_t process = getpid();
};

Gate& gate() {
  static Gate& instance = *new Gate;
  return instance;
}

}  // namespace

PythonCalls::PythonCalls(std::shared_ptr<CancelRequest> cancel) : cancel_(std::move(cancel)) {
  const std::lock_guard lock(gate().mutex);
  open_ = gate().open;
  if (!open_) return;
  ++gate().inside;
  if (cancel_) gate().cancels.insert(cancel_);
}

PythonCalls::~PythonCalls() {
  if (!open_) return;
  const std::lock_guard lock(gate().mutex);
  if (cancel_) gate().cancels.erase(gate().cancels.find(cancel_));
  if (--gate().inside == 0) gate().idle.notify_all();
}

void close_python_calls() {
  if (getpid() != gate().process) return;  // a fork has none of the threads to wait for
  const nb::gil_scoped_release released;
  std::unique_lock lock(gate().mutex);
  gate().open = false;
  for (const auto& cancel : gate().cancels) cancel->ask();
  gate().idle.wait(lock, [] { return gate().inside == 0; });
}

}  // namespace headrace::python
