#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "headrace/model/stream_times.hpp"

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
  /// The oldest that was put; waits until the device has made it. Errors: those of the device's work.
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

/// A copy of `tensor` in page-locked memory, made behind all work of its GPU's current stream; `done`
/// happens when it is complete: wait_asleep.
struct HostCopy {
  at::Tensor tensor;
  c10::Event done;
};
HostCopy copy_to_host(const at::Tensor& tensor);

/// An event, with its time, behind all work of a GPU's current stream.
c10::Event mark_in_stream(at::Device device);

/// `tensor` on `device`; the tensor itself where it is there already. From the host to a GPU by way of
/// page-locked memory, in its current stream, so that the host does not wait for what was put there
/// before; what becomes of `tensor` afterwards changes nothing.
at::Tensor copy_to(at::Device device, const at::Tensor& tensor);

/// Waits for a HostCopy's `done` without keeping a core busy. Errors: those of the device's work.
void wait_asleep(const c10::Event& event);

}  // namespace headrace::model
