#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "learn/model/stream_times.hpp"

namespace headrace::model {

/// Numbers that a device computes step by step, and that the host reads some steps later: putting
/// them waits for nothing. On a GPU they are copied into page-locked memory behind the work that
/// makes them, in LibTorch's current stream. One thread.
class LateReads {
 public:
  explicit LateReads(at::Device device) : device_(device) {}

  /// Mark the begin of a step in the stream, and that its batch is there.
  void begin();
  void batch_is_there();
  /// Ends the step. `row`: one dimension, float64; what becomes of it afterwards changes nothing.
  void put(const at::Tensor& row);
  /// Steps that were put and not taken.
  std::size_t size() const noexcept { return steps_.size(); }

  struct Step {
    std::vector<double> row;
    std::optional<StreamTimes> times;  ///< on a GPU
  };
  /// The oldest that was put; waits until the device has made it. Errors: those of the device's
  /// work.
  Step take();

 private:
  struct Marks {
    c10::Event begin, batch, end;
  };
  struct Pending {
    at::Tensor row;  ///< in the host's memory
    std::optional<Marks> marks;
  };
  c10::Event mark() const;

  at::Device device_;
  std::optional<c10::Event> begin_, batch_;  ///< of the step that is being made
  std::optional<c10::Event> last_end_;       ///< of the step that was taken last
  std::deque<Pending> steps_;
};

}  // namespace headrace::model
