#pragma once
#include <memory>
#include <stdexcept>
#include <variant>

#include "headrace/pixels/statistics/statistics_device.hpp"
#include "tests/device/host_device.hpp"

namespace headrace::pixels::fixtures {

/// A pass one item and element at a time, from the last to the first: no order may be relied on.
template <typename Pass>
void run_on_host(const Pass& pass) {
  for (std::int64_t item = pass.items(); item-- > 0;) {
    for (std::int32_t element = pass.elements(); element-- > 0;) {
      if constexpr (is_sum<Pass>) {
        const auto sample = pass.sample(item, element);
        if (sample.bin < 0) continue;
        Pass::add(sample, pass.totals);
        std::uint64_t* place =
            pass.totals + Pass::kSums + (Pass::kValues + 1) * std::int64_t{sample.bin};
        ++place[0];
        for (std::int32_t v = 0; v < Pass::kValues; ++v) place[1 + v] += sample.value[v];
      } else if constexpr (is_count<Pass>) {
        const std::int32_t bin = pass.bin(item, element);
        if (bin >= Pass::kBins) throw std::logic_error("no bin of the pass");
        if (bin >= 0) ++pass.counts[bin];
      } else {
        pass(item, element);
      }
    }
  }
}

/// A queue on the host that gathers statistics. `Base`: StatisticsQueue, or what a higher layer
/// made of it.
template <typename Base>
class HostStatisticsQueueOf : public device::fixtures::HostQueueOf<Base> {
 public:
  using device::fixtures::HostQueueOf<Base>::HostQueueOf;
  void gather(const StatisticsPass& pass) override {
    this->memory_->count_pass();
    std::visit([this](const auto& kernel) { check_memory_of(kernel); }, pass);
    this->work_.push_back(
        [pass] { std::visit([](const auto& kernel) { run_on_host(kernel); }, pass); });
  }

 private:
  template <typename Pass>
  void check_memory_of(const Pass& pass) {
    if constexpr (is_sum<Pass>) this->memory_->check(pass.totals, 8 * kStainTotals, true);
    if constexpr (is_count<Pass>) this->memory_->check(pass.counts, 8 * Pass::kBins, true);
    if constexpr (requires { pass.image; }) this->memory_->check(pass.image.base, 1, true);
    if constexpr (requires { pass.values; }) {
      this->memory_->check(pass.values, 2 * pass.shape.depth * pass.shape.height * pass.shape.width,
                           true);
    }
    if constexpr (requires { pass.dst; }) {
      const auto bytes = static_cast<std::int64_t>(sizeof *pass.dst);
      this->memory_->check(pass.dst, bytes * pass.items() * pass.elements(), true);
      this->memory_->check(pass.src, bytes * pass.items() * pass.elements(), true);
    }
  }
};

/// A StatisticsDevice on the host.
class HostStatistics : public device::fixtures::HostDeviceOf<StatisticsDevice> {
 public:
  using HostDeviceOf::HostDeviceOf;
  std::unique_ptr<StatisticsQueue> queue() override {
    return std::make_unique<HostStatisticsQueueOf<StatisticsQueue>>(memory_);
  }
};

}  // namespace headrace::pixels::fixtures
