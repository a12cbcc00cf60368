#include "learn/model/late_reads.hpp"

#include <utility>

#include "learn/model/host_copies.hpp"

namespace headrace::model {
namespace {

double seconds_between(const c10::Event& from, const c10::Event& to) {
  return from.elapsedTime(to) / 1000;
}

}  // namespace

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

}  // namespace headrace::model
