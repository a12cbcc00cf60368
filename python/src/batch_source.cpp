#include "python/src/batch_source.hpp"

#include <unistd.h>

#include <chrono>

#include "headrace/core/error.hpp"

namespace headrace::python {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals{100};

}  // namespace

BatchSource::BatchSource(const loader::RunInputs& inputs, const loader::LoaderStart& start)
    : made_in_(::getpid()) {
  const nb::gil_scoped_release released;
  loader_ = std::make_unique<loader::Loader>(inputs.cohort, inputs.config, inputs.plan,
                                             inputs.preprocessing, start);
}

void BatchSource::stop() {
  stats_ = loader_->stats();
  loader_.reset();
}

/// Whether there is an answer: `batch`, or its absence at the end.
bool BatchSource::take_once(std::optional<loader::Batch>& batch) {
  const nb::gil_scoped_release released;
  const std::unique_lock lock(mutex_, kBetweenSignals);
  if (!lock) return false;
  if (ended_) return true;
  if (!loader_) fail(ErrorCode::usage, "the loader is closed. Make another one");
  if (!loader_->wait(kBetweenSignals)) return false;
  try {
    batch = loader_->next();
  } catch (...) {
    stop();
    throw;
  }
  if (batch) return true;
  ended_ = true;
  stop();
  return true;
}

std::optional<loader::Batch> BatchSource::take() {
  std::optional<loader::Batch> batch;
  while (!take_once(batch)) {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  return batch;
}

loader::StallStats BatchSource::stats() {
  const nb::gil_scoped_release released;
  const std::lock_guard lock(mutex_);
  return loader_ ? loader_->stats() : stats_;
}

void BatchSource::close() noexcept {
  if (::getpid() != made_in_) {  // the mutex may have been held when the process was forked
    (void)loader_.release();
    return;
  }
  const nb::gil_scoped_release released;
  const std::lock_guard lock(mutex_);
  if (loader_) stop();
}

}  // namespace headrace::python
