#include "headrace/model/late_reads.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <thread>
#include <utility>

namespace headrace::model {
namespace {

double seconds_between(const c10::Event& from, const c10::Event& to) {
  return from.elapsedTime(to) / 1000;
}

}  // namespace

c10::Event mark_in_stream(at::Device device) {
  c10::Event event(device.type(), c10::EventFlag::BACKEND_DEFAULT);  // with times
  event.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  return event;
}

/// LibTorch's events with times burn a core while they are waited for, and the loader needs it.
void wait_asleep(const c10::Event& event) {
  while (!event.query()) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

c10::Event LateReads::mark() const { return mark_in_stream(device_); }

void LateReads::begin() {
  if (!device_.is_cpu()) begin_.emplace(mark());
}

void LateReads::batch_is_there() {
  if (!device_.is_cpu()) batch_.emplace(mark());
}

void LateReads::put(const at::Tensor& row) {
  if (device_.is_cpu()) {
    steps_.push_back({row.detach().clone(), {}});
    return;
  }
  HostCopy copy = copy_to_host(row.detach());
  steps_.push_back({std::move(copy.tensor),
                    Marks{std::move(*begin_), std::move(*batch_), std::move(copy.done)}});
  begin_.reset();
  batch_.reset();
}

LateReads::Step LateReads::take() {
  Pending pending = std::move(steps_.front());
  steps_.pop_front();
  Step step;
  if (pending.marks) {
    Marks& marks = *pending.marks;
    wait_asleep(marks.end);
    step.times = StreamTimes{last_end_ ? seconds_between(*last_end_, marks.begin) : 0,
                             seconds_between(marks.begin, marks.batch),
                             seconds_between(marks.batch, marks.end)};
    last_end_.emplace(std::move(marks.end));
  }
  const double* values = pending.row.const_data_ptr<double>();
  step.row.assign(values, values + pending.row.numel());
  return step;
}

HostCopy copy_to_host(const at::Tensor& tensor) {
  at::Tensor host = at::empty(
      tensor.sizes(), at::TensorOptions(tensor.scalar_type()).device(at::kCPU).pinned_memory(true));
  host.copy_(tensor, /*non_blocking=*/true);
  return {std::move(host), mark_in_stream(tensor.device())};
}

at::Tensor copy_to(at::Device device, const at::Tensor& tensor) {
  if (device.is_cpu() || !tensor.is_cpu()) return tensor.to(device);
  at::Tensor locked = at::empty_like(tensor, tensor.options().pinned_memory(true));
  locked.copy_(tensor);
  // LibTorch gives page-locked memory out again when the stream has passed the copy.
  return locked.to(device, tensor.scalar_type(), /*non_blocking=*/true);
}

}  // namespace headrace::model
