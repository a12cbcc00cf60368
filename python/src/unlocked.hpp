#pragma once
#include <optional>

#include "python/src/python_calls.hpp"

namespace headrace::python {

/// Python's lock released for a call into the library; the interpreter's end waits for the call.
/// After that end has begun the lock is kept, since Python (before 3.14) would end the thread where
/// it takes the lock again, within C++, and with it the process.
class Unlocked {
 public:
  Unlocked() {
    if (calls_) released_.emplace();
  }

 private:
  PythonCalls calls_;
  std::optional<nb::gil_scoped_release> released_;  ///< last: has the lock before calls_ ends
};

}  // namespace headrace::python
