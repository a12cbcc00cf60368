#include "headrace/device/buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::device {
namespace {

TEST(HostBuffer, IsAlignedAndHasReadableZerosBehindItsEnd) {
  for (const std::size_t size : {0, 1, 63, 64, 65, 4097}) {
    HostBuffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    std::memset(buffer.data(), 0xff, size);
    for (std::size_t i = 0; i < HostBuffer::kTailPadding; ++i)
      ASSERT_EQ(buffer.data()[size + i], std::byte{0}) << size;
  }
}

TEST(HostBuffer, LargeOnesLieWhereLargePagesCan) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  for (const std::size_t size : {kPage, 5 * kPage + 12345}) {
    HostBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kPage, 0u);
    std::memset(buffer.data(), 7, size);  // all of it is ours
    for (std::size_t i = 0; i < HostBuffer::kTailPadding; ++i) {
      ASSERT_EQ(buffer.data()[size + i], std::byte{0});
    }
  }
}

TEST(HostBuffer, ReserveGrowsButNeverShrinks) {
  HostBuffer buffer(100);
  const std::byte* before = buffer.data();
  buffer.reserve(50);
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.size(), 100U);
  buffer.reserve(5000);
  EXPECT_EQ(buffer.size(), 5000U);
}

TEST(HostBuffer, AnImpossibleSizeIsAMemoryError) {
  try {
    HostBuffer buffer(std::size_t{1} << 62);
    FAIL() << "allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::memory);
    EXPECT_STREQ(error.what(), "4611686018427387904 bytes of host memory could not be allocated");
  }
}

TEST(BufferPool, AReturnedBufferIsUsedAgain) {
  BufferPool pool;
  const std::byte* first = nullptr;
  {
    auto lease = pool.take(1000);
    first = lease->data();
  }
  EXPECT_EQ(pool.take(900)->data(), first);
}

TEST(BufferPool, TheSmallestThatFitsIsTaken) {
  BufferPool pool;
  {
    auto large = pool.take(10000);
    auto small = pool.take(2000);
  }
  auto lease = pool.take(1500);
  EXPECT_EQ(lease->size(), 2000U);
  EXPECT_EQ(pool.take(1500)->size(), 10000U);
  EXPECT_EQ(pool.take(20000)->size(), 20000U);
}

TEST(BufferPool, KeepsNoMoreThanStated) {
  BufferPool pool(1000);
  auto a = pool.take(600), b = pool.take(600), c = pool.take(400);
  const auto* first = a.data();
  const auto* third = c.data();
  a.release();
  b.release();  // 1,200 bytes would be kept
  c.release();
  EXPECT_FALSE(b);
  auto again = pool.take(500), small = pool.take(300), fresh = pool.take(300);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(small.data(), third);
  EXPECT_EQ(fresh->size(), 300u);
  again.release();
  EXPECT_EQ(pool.take(200)->size(), 200u) << "600 bytes are more than twice as many";
}

TEST(BufferPool, AMovedLeaseGoesBackOnce) {
  BufferPool pool;
  auto first = pool.take(10);
  const std::byte* data = first->data();
  auto second = std::move(first);
  second = pool.take(20);  // gives the first buffer back
  EXPECT_EQ(pool.take(10)->data(), data);
  EXPECT_NE(second->data(), data);
}

TEST(BufferPool, ThreadsNeverShareABuffer) {
  BufferPool pool;
  std::vector<std::thread> threads;
  std::vector<int> mixed(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, &mixed, t] {
      for (int i = 0; i < 500; ++i) {
        auto lease = pool.take(256);
        std::memset(lease->data(), t, 256);
        std::this_thread::yield();
        for (std::size_t k = 0; k < 256; ++k) mixed[t] += lease->data()[k] != std::byte(t);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const int count : mixed) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace headrace::device
