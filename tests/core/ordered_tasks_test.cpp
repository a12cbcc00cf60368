#include "headrace/core/ordered_tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

TEST(RunInOrder, RunsEachOnceAndRethrowsTheLowestFailure) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> runs(100);
    run_in_order(pool, runs.size(), 3, [&](std::size_t i) { ++runs[i]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        run_in_order(pool, 100, 7, [&](std::size_t i) {
          if (i >= 40) fail(ErrorCode::io, "{}", i);
        });
        FAIL();
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "40");
      }
    }
  }
}

}  // namespace
}  // namespace headrace
