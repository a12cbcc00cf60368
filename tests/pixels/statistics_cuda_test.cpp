// The passes of statistics on a GPU: those of plain loops. Without a GPU none of this is shown, and
// each test says so.
#include "headrace/device/cuda_device.hpp"
#include "tests/pixels/statistics_cases.hpp"

namespace headrace::pixels {
namespace {

class StatisticsCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
    device_ = open_cuda_statistics();
  }
  std::unique_ptr<StatisticsDevice> device_;
};

TEST_F(StatisticsCuda, DarkestChannelsAreThoseOfALoop) {
  fixtures::expect_darkest_of_a_loop(*device_);
}
TEST_F(StatisticsCuda, StainsAreTheAccumulators) {
  fixtures::expect_stains_of_the_accumulator(*device_);
}
TEST_F(StatisticsCuda, MasksAreThoseOfALoop) { fixtures::expect_masks_of_a_loop(*device_); }
TEST_F(StatisticsCuda, VolumesAreThoseOfALoop) { fixtures::expect_volumes_of_a_loop(*device_); }

}  // namespace
}  // namespace headrace::pixels
