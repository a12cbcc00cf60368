// The operations on a GPU give the CPU's bytes. Without a GPU none of this is shown, and each test
// states it.
#include "headrace/device/cuda_device.hpp"
#include "tests/learn/process/accelerated_cases.hpp"

namespace headrace::process {
namespace {

class ProcessCuda : public testing::TestWithParam<OperationName> {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) {
      GTEST_SKIP() << "not run: " << device::cuda::describe();
    }
  }
};

TEST_P(ProcessCuda, MakesTheTilesOfTheCpu) {
  expect_tiles_of_the_cpu(GetParam(), *open_cuda_accelerator());
}

TEST_P(ProcessCuda, StoresTheBytesOfTheCpu) {
  expect_stored_bytes_of_the_cpu(GetParam(), *open_cuda_accelerator());
}

TEST(ProcessCudaStatistics, AreThoseOfTheCpu) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  expect_statistics_of_the_cpu(*open_cuda_accelerator());
}

INSTANTIATE_TEST_SUITE_P(Process, ProcessCuda, testing::ValuesIn(all_operations()), test_name);

}  // namespace
}  // namespace headrace::process
