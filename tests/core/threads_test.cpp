#include "headrace/core/threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

TEST(ThreadPool, EveryIndexRunsExactlyOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const std::size_t grain : {std::size_t{1}, std::size_t{13}}) {
      ThreadPool pool(threads);
      std::vector<std::atomic<int>> seen(1000);
      pool.parallel_for(
          seen.size(), [&](std::size_t i) { ++seen[i]; }, grain);
      for (std::size_t i = 0; i < seen.size(); ++i)
        ASSERT_EQ(seen[i], 1) << i << " with " << threads << " threads";
    }
  }
}

TEST(ThreadPool, TheLowestFailingIndexIsTheOneReported) {
  const std::set<std::size_t> bad{17, 18, 400, 999};
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::atomic<std::size_t> tried{0};
      try {
        pool.parallel_for(1000, [&](std::size_t i) {
          ++tried;
          if (bad.count(i) > 0) fail(ErrorCode::corrupt, "sample {}", i);
        });
        FAIL() << "no error";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "sample 17");
        EXPECT_EQ(error.code(), ErrorCode::corrupt);
      }
      EXPECT_EQ(tried, 1000U);
    }
  }
}

TEST(ThreadPool, OtherExceptionsKeepTheirType) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(8,
                                 [](std::size_t i) {
                                   if (i == 3) throw std::out_of_range("x");
                                 }),
               std::out_of_range);
}

TEST(ThreadPool, ItWorksAgainAfterAFailureAndWithNothingToDo) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(4, [](std::size_t) { fail(ErrorCode::io, "x"); }), Error);
  int calls = 0;
  pool.parallel_for(0, [&](std::size_t) { ++calls; });
  pool.parallel_for(1, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, NestedLoopsFinish) {
  ThreadPool outer(2), inner(2);
  std::atomic<int> sum{0};
  outer.parallel_for(8, [&](std::size_t) { inner.parallel_for(8, [&](std::size_t) { ++sum; }); });
  EXPECT_EQ(sum, 64);
}

TEST(ThreadPool, AskedForThreadsAreRealEvenOnFewerCores) {
  ThreadPool small(2), pool(5);
  std::atomic<int> arrived{0}, met{0};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  // Each index waits for all five: they meet only if five threads run at once.
  pool.parallel_for(5, [&](std::size_t) {
    ++arrived;
    while (arrived < 5 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    if (arrived == 5) ++met;
  });
  EXPECT_EQ(met, 5);
}

TEST(ThreadPool, NestedLoopsOfOnePoolFinish) {
  ThreadPool pool(4);
  std::atomic<int> sum{0};
  pool.parallel_for(8, [&](std::size_t) {
    pool.parallel_for(8, [&](std::size_t) { pool.parallel_for(4, [&](std::size_t) { ++sum; }); });
  });
  EXPECT_EQ(sum, 256);
}

TEST(ThreadPool, ManyThreadsUseOnePoolWithinItsBound) {
  constexpr int kCallers = 6;
  ThreadPool pool(3);
  std::atomic<int> sum{0}, inside{0}, most{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        pool.parallel_for(5, [&](std::size_t) {
          const int here = ++inside;
          for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) continue;
          ++sum;
          --inside;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, kCallers * 200 * 5);
  EXPECT_LE(most, kCallers + 2);  // every caller works along, and the pool has two helpers
}

/// 0 where three threads of this process meet in a loop of the pool, which only real ones do.
int meet(ThreadPool& pool) {
  std::atomic<int> arrived{0};
  pool.parallel_for(3, [&](std::size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  return arrived == 3 ? 0 : 1;
}

TEST(ThreadPool, AForkedProcessHasThreadsOfItsOwnWhateverTheParentsDid) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in a forked process";
#endif
  auto pool = std::make_unique<ThreadPool>(3);
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i) {
    busy.emplace_back([&] {
      while (!stop) pool->parallel_for(4, [](std::size_t) {});
    });
  }
  for (int repeat = 0; repeat < 100; ++repeat) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // a child that hangs is ended, and so fails
      ThreadPool own(3);
      const int failures = meet(*pool) + meet(own);
      pool.reset();
      ::_exit(failures);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "repeat " << repeat;
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

TEST(ThreadPool, ZeroThreadsMeansEveryCore) {
  EXPECT_EQ(ThreadPool(0).size(), available_cores());
  EXPECT_GE(available_cores(), 1);
}

}  // namespace
}  // namespace headrace
