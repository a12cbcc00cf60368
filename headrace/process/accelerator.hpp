#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/process/tile_kernel.hpp"
#include "headrace/transform/statistics/device.hpp"

namespace headrace::process {

using transform::SharedMemory;

/// Work of an accelerator, in order: copies, passes that gather statistics, and tiles.
class Queue : public transform::StatisticsQueue {
 public:
  /// Every pointer of the kernel, and `sums` (sums_of(kernel) floats), is the accelerator's.
  virtual void run(const TileKernel& kernel, float* sums) = 0;
};

/// What computes tiles in memory of its own. Safe from any thread.
class Accelerator : public transform::StatisticsDevice {
 public:
  virtual std::unique_ptr<Queue> queue() = 0;
  std::unique_ptr<transform::StatisticsQueue> statistics_queue() override { return queue(); }
};

/// The current CUDA device. Errors: unsupported (no GPU, no driver, or a build without CUDA; says
/// which).
std::unique_ptr<Accelerator> open_cuda_accelerator();

}  // namespace headrace::process
