#include "learn/inference/late_counts.hpp"

#include <utility>

#include "learn/model/host_copies.hpp"

namespace headrace::inference {

void LateCounts::put(std::uint32_t image, const at::Tensor& counts) {
  Pending pending{image, counts, {}};
  if (!counts.is_cpu()) {
    model::HostCopy copy = model::copy_to_host(counts);
    pending.counts = std::move(copy.tensor);
    pending.done.emplace(std::move(copy.done));
  }
  pending_.push_back(std::move(pending));
}

std::vector<std::int64_t> LateCounts::take(std::uint32_t image) {
  if (pending_.empty() || pending_.front().image != image) return {};
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  if (pending.done) model::wait_asleep(*pending.done);
  const auto* counts = pending.counts.const_data_ptr<std::int64_t>();
  return {counts, counts + pending.counts.numel()};
}

}  // namespace headrace::inference
