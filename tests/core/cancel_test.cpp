#include "headrace/core/cancel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"

namespace headrace {
namespace {

constexpr std::size_t kMany = 1000;

/// What a loop ends with that asks for its own end at the third index.
ErrorCode end_of_loop(ThreadPool& pool, CancelRequest& request, std::atomic<std::size_t>& begun) {
  try {
    pool.parallel_for(kMany, [&](std::size_t) {
      if (++begun == 3) request.ask();
    });
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(Cancel, EndsLoopsOfPoolsThatWereMadeBelowIt) {
  for (const int threads : {1, 4}) {
    const auto request = std::make_shared<CancelRequest>();
    const CancelScope scope(request);
    ThreadPool pool(threads);
    std::atomic<std::size_t> begun{0};
    EXPECT_EQ(end_of_loop(pool, *request, begun), ErrorCode::cancelled) << threads;
    EXPECT_LE(begun, 3u + static_cast<std::size_t>(threads));
    EXPECT_EQ(end_of_loop(pool, *request, begun), ErrorCode::cancelled) << "asked before it begins";
    EXPECT_LE(begun, 3u + static_cast<std::size_t>(threads));
  }
}

TEST(Cancel, NestedLoopsEndTheOuterOne) {
  const auto request = std::make_shared<CancelRequest>();
  const CancelScope scope(request);
  ThreadPool pool(2);
  std::atomic<std::size_t> outer{0}, inner{0};
  const auto loop = [&] {
    pool.parallel_for(kMany, [&](std::size_t) {
      ++outer;
      pool.parallel_for(kMany, [&](std::size_t) {
        if (++inner == 5) request->ask();
      });
    });
  };
  EXPECT_THROW(loop(), Error);
  EXPECT_LE(outer, 4u);
  EXPECT_LE(inner, 10u);
}

TEST(Cancel, LeavesOtherPoolsAlone) {
  ThreadPool before(2);
  const auto outer = std::make_shared<CancelRequest>(), inner = std::make_shared<CancelRequest>();
  outer->ask();
  std::atomic<std::size_t> begun{0};
  const auto count = [&](std::size_t) { ++begun; };
  const CancelScope scope(outer);
  {
    const CancelScope nested(inner);
    ThreadPool pool(2);
    pool.parallel_for(kMany, count);
  }
  before.parallel_for(kMany, count);
  EXPECT_EQ(begun, 2 * kMany);
  EXPECT_EQ(CancelScope::current(), outer);
}

TEST(Cancel, AnErrorComesFirst) {
  const auto request = std::make_shared<CancelRequest>();
  const CancelScope scope(request);
  ThreadPool pool(1);
  try {
    pool.parallel_for(kMany, [&](std::size_t) {
      request->ask();
      fail(ErrorCode::corrupt, "tile 0 is damaged");
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
  }
}

TEST(Cancel, EndsWorkOnOneThreadBetweenItsPieces) {
  stop_if_cancelled();  // without a scope
  const auto request = std::make_shared<CancelRequest>();
  const CancelScope scope(request);
  stop_if_cancelled();
  request->ask();
  try {
    stop_if_cancelled();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace headrace
