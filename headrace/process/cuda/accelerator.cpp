#include "headrace/process/accelerator.hpp"

#include "headrace/core/error.hpp"
#include "headrace/process/cuda/passes.hpp"
#include "headrace/transform/cuda/statistics_device.hpp"

namespace headrace::process {
namespace {

class CudaQueue : public transform::cuda::CudaQueueOf<Queue> {
 public:
  void run(const TileKernel& kernel, float* sums) override { cuda::run(kernel, sums, stream_); }
};

class CudaAccelerator : public transform::cuda::CudaDeviceOf<Accelerator> {
 public:
  std::unique_ptr<Queue> queue() override { return std::make_unique<CudaQueue>(); }
};

}  // namespace

std::unique_ptr<Accelerator> open_cuda_accelerator() {
  if (!device::cuda::cuda_available()) {
    fail(ErrorCode::unsupported, "--device cuda: {}; --device cpu gives the same bytes",
         device::cuda::describe());
  }
  return std::make_unique<CudaAccelerator>();
}

}  // namespace headrace::process
