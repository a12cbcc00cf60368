#include "headrace/device/memory_budget.hpp"

#include <gtest/gtest.h>

#include "tests/core/error_of.hpp"

namespace headrace::device::cuda {
namespace {

TEST(MemoryBudget, RefusesWhatDoesNotFitAndCountsWhatDoes) {
  const MemoryBudget budget(100 << 20, "the test", "Take less");
  budget.named("batches").take(60 << 20);
  EXPECT_EQ(error_of(ErrorCode::memory, [&] { budget.named("windows").take(41 << 20); }),
            "windows of 41 MiB do not fit: the test may take 100 MiB of the GPU and has taken 60. "
            "Take less");
  budget.named("windows").take(40 << 20);
  EXPECT_EQ(budget.used(), std::size_t{100} << 20);
  budget.give_back(1);
  budget.take(1);
  EXPECT_THROW(budget.take(1), Error);
}

TEST(MemoryBudget, WithoutALimitTakesAll) {
  const MemoryBudget budget;
  budget.take(std::size_t{1} << 62);
  budget.named("batches").take(std::size_t{1} << 63);
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, CountsNothingWhereTheAllocationFails) {
  const MemoryBudget budget(std::size_t{1} << 62, "the test", "Take less");
  budget.take(7);
  DeviceBuffer buffer;
  // More than any GPU has; without one the first byte fails too.
  EXPECT_THROW(budget.reserve(buffer, std::size_t{1} << 60), Error);
  EXPECT_EQ(budget.used(), 7u);
  EXPECT_EQ(buffer.size(), 0u);
}

}  // namespace
}  // namespace headrace::device::cuda
