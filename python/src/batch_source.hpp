#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "headrace/loader/loader.hpp"
#include "headrace/loader/run_inputs.hpp"
#include "python/src/bindings.hpp"

namespace headrace::python {

/// A loader::Loader for the threads of a Python program. Call every function with the GIL; it is
/// released while they wait. Any thread may call any of them: each batch is given once.
///
/// A process that was forked from the one that made it has none of its worker threads: there only
/// close and the destructor may be called, and leave the memory alone.
class BatchSource {
 public:
  BatchSource(const loader::RunInputs& inputs, const loader::LoaderStart& start);
  ~BatchSource() { close(); }
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// The next batch; nullopt at the end, after which, as after an error, no worker thread is left.
  /// Signals are looked at ten times a second. Errors: those of Loader::next; usage (closed); a
  /// Python exception of a signal's handler.
  std::optional<loader::Batch> take();
  loader::StallStats stats();
  /// Ends the workers; waits for the samples in their hands.
  void close() noexcept;

 private:
  bool take_once(std::optional<loader::Batch>& batch);
  void stop();

  const pid_t made_in_;
  std::timed_mutex mutex_;
  std::unique_ptr<loader::Loader> loader_;
  loader::StallStats stats_;  ///< once the loader is gone
  bool ended_ = false;
};

}  // namespace headrace::python
