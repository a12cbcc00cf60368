#include "headrace/pixels/cuda/statistics_passes.hpp"

#include "headrace/device/cuda/gather_each.cuh"

namespace headrace::pixels::cuda {

void gather(const StatisticsPass& pass, device::cuda::Stream& stream) {
  std::visit(
      [&stream](const auto& kernel) {
        using Kernel = std::decay_t<decltype(kernel)>;
        using namespace device::cuda;
        if constexpr (is_sum<Kernel>) {
          gather_each(stream, sum_each<Kernel>, kernel, "sums of statistics");
        } else if constexpr (is_count<Kernel>) {
          gather_each(stream, count_each<Kernel>, kernel, "counts of statistics");
        } else {
          gather_each(stream, do_each<Kernel>, kernel, "pass of statistics");
        }
      },
      pass);
}

}  // namespace headrace::pixels::cuda
