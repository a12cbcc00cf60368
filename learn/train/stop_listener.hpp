#pragma once
#include <functional>
#include <memory>

namespace headrace::train {

/// Hears whether a training is to stop: signals are the program's, so the program makes one.
class StopListener {
 public:
  virtual ~StopListener() = default;
  /// The signal (SIGINT, SIGTERM) by which the training was asked to stop, or 0. Asked after every
  /// step, from the thread that trains.
  virtual int asked() noexcept = 0;
};

/// Called when the first step is about to begin. What it makes lives until the last step is done:
/// before and after there is nothing that a checkpoint would save, and a signal may end the process
/// as usual. Empty: the training never stops.
using ListenForStop = std::function<std::unique_ptr<StopListener>()>;

}  // namespace headrace::train
