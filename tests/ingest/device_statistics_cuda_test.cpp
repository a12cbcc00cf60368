// Ingest with its statistics on a GPU: the CPU's. Without a GPU none of this is shown, and each
// test says so.
#include "headrace/device/cuda_device.hpp"
#include "tests/ingest/device_statistics_cases.hpp"

namespace headrace::ingest {
namespace {

class IngestCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
    device_ = pixels::open_cuda_statistics();
  }
  std::unique_ptr<pixels::StatisticsDevice> device_;
};

TEST_F(IngestCuda, TissueIsTheCpus) { expect_tissue_of_the_cpu(*device_); }
TEST_F(IngestCuda, BodiesAndHistogramsAreTheCpus) { expect_volumes_of_the_cpu(*device_); }
TEST_F(IngestCuda, ASlidesStoreIsTheCpus) { expect_slide_stores_of_the_cpu(*device_); }
TEST_F(IngestCuda, AVolumesStoreIsTheCpus) { expect_volume_stores_of_the_cpu(*device_); }

}  // namespace
}  // namespace headrace::ingest
