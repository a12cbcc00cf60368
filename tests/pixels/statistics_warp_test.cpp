// The CUDA kernels of statistics as they stand, their threads on the host: what lanes of a warp and
// a block's shared memory do with counters and sums. Not what a GPU does: that is for
// statistics_cuda_test.cpp.
#include "tests/pixels/emulated_gpu.hpp"
// after the words that it is written in
#include "headrace/device/cuda/gather_kernels.cuh"
#include "tests/device/host_device.hpp"
#include "tests/pixels/statistics_cases.hpp"

namespace headrace::pixels {
namespace {

using fixtures::Dim;
using fixtures::EmulatedBlock;

/// Few threads, so that they go over an image several times, and some find nothing.
void run_in_warps(const StatisticsPass& pass) {
  constexpr Dim kGrid{2, 3};
  constexpr unsigned kThreads = 96;
  for (unsigned y = kGrid.y; y-- > 0;) {
    for (unsigned x = 0; x < kGrid.x; ++x) {
      const std::function<void()> body = [&pass] {
        std::visit(
            [](const auto& kernel) {
              using Kernel = std::decay_t<decltype(kernel)>;
              if constexpr (is_sum<Kernel>) {
                device::cuda::sum_each(kernel);
              } else if constexpr (is_count<Kernel>) {
                device::cuda::count_each(kernel);
              } else {
                device::cuda::do_each(kernel);
              }
            },
            pass);
      };
      EmulatedBlock(kThreads, {x, y}, kGrid, body).run();
    }
  }
}

class WarpQueue : public device::fixtures::HostQueueOf<StatisticsQueue> {
 public:
  using HostQueueOf::HostQueueOf;
  void gather(const StatisticsPass& pass) override {
    work_.push_back([pass] { run_in_warps(pass); });
  }
};

class WarpStatistics : public device::fixtures::HostDeviceOf<StatisticsDevice> {
 public:
  std::unique_ptr<StatisticsQueue> queue() override { return std::make_unique<WarpQueue>(memory_); }
};

class StatisticsWarps : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "not run: ThreadSanitizer does not follow fibers, all of which are one thread";
#endif
  }
};

TEST_F(StatisticsWarps, DarkestChannelsAreThoseOfALoop) {
  WarpStatistics device;
  fixtures::expect_darkest_of_a_loop(device);
}
TEST_F(StatisticsWarps, StainsAreTheAccumulators) {
  WarpStatistics device;
  fixtures::expect_stains_of_the_accumulator(device, true);
}
TEST_F(StatisticsWarps, MasksAreThoseOfALoop) {
  WarpStatistics device;
  fixtures::expect_masks_of_a_loop(device);
}
TEST_F(StatisticsWarps, VolumesAreThoseOfALoop) {
  WarpStatistics device;
  fixtures::expect_volumes_of_a_loop(device);
}

using EmulatedGpu = StatisticsWarps;

TEST_F(EmulatedGpu, SeesThreadsThatDoNotMeet) {
  const auto run = [](const std::function<void()>& body) {
    EmulatedBlock(32, {0, 0}, {1, 1}, body).run();
  };
  EXPECT_THROW(run([] {
                 if (threadIdx.x > 3) __match_any_sync(~0u, 1);
               }),
               std::logic_error);
  EXPECT_THROW(run([] {
                 if (threadIdx.x > 3) {
                   __match_any_sync(~0u, 1);
                 } else {
                   __reduce_add_sync(~0u, 1);
                 }
               }),
               std::logic_error);
  EXPECT_THROW(run([] { __reduce_add_sync(2, 1); }), std::logic_error);
  run([] {
    const unsigned same = __match_any_sync(~0u, static_cast<int>(threadIdx.x % 3));
    if (threadIdx.x % 3 != 1) return;
    if (same != 0x92492492u) throw std::logic_error("lanes 1, 4, … 31");
    if (__reduce_add_sync(same, threadIdx.x) != 176) throw std::logic_error("1 + 4 + … + 31");
  });
}

}  // namespace
}  // namespace headrace::pixels
