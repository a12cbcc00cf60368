#pragma once
#include <memory>

#include "headrace/device/device.hpp"
#include "headrace/pixels/statistics/statistics_pass.hpp"

namespace headrace::pixels {

/// A queue that gathers statistics, with the CPU's result to the last bit.
class StatisticsQueue : public device::Queue {
 public:
  /// Every pointer of the pass is device memory.
  virtual void gather(const StatisticsPass& pass) = 0;
};

using StatisticsDevice = device::DeviceOf<StatisticsQueue>;

/// The current CUDA device. Errors: unsupported (no GPU, no driver, or a build without CUDA; names
/// which).
std::unique_ptr<StatisticsDevice> open_cuda_statistics();

}  // namespace headrace::pixels
