#pragma once
#include "headrace/process/accelerator.hpp"
#include "headrace/process/tile_pixel.hpp"
#include "tests/transform/host_device.hpp"

namespace headrace::process {

/// An accelerator on the host (transform's stand-in for a GPU) whose tiles are the GPU's passes,
/// one result at a time.
class HostAccelerator : public transform::testing::HostDeviceOf<Accelerator> {
 public:
  using HostDeviceOf::HostDeviceOf;
  std::unique_ptr<Queue> queue() override { return std::make_unique<TileQueue>(memory_); }

 private:
  class TileQueue : public transform::testing::HostQueueOf<Queue> {
   public:
    using HostQueueOf::HostQueueOf;
    void run(const TileKernel& kernel, float* sums) override {
      memory_->check(kernel.source.base, 1, true);
      memory_->check(kernel.out.data, 1, true);
      const std::int64_t bytes = sums_of(kernel) * 4;
      if (bytes > 0) memory_->check(sums, bytes, true);
      if (kernel.height > 65535) throw std::logic_error("more rows than a launch may have");
      work_.push_back([kernel, sums] {
        run_passes(kernel, sums,
                   [](std::int32_t rows, std::int32_t elements, const auto& pass, const char*) {
                     for (std::int32_t row = rows; row-- > 0;) {  // no order may be relied on
                       for (std::int32_t i = elements; i-- > 0;) pass(row, i);
                     }
                   });
      });
    }
  };
};

}  // namespace headrace::process
