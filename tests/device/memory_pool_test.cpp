// Memory in the order of streams, with the host in a GPU's place.
#include "headrace/device/memory_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "headrace/device/buffer.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/device/memory_relief.hpp"
#include "headrace/device/staging_buffer.hpp"
#include "tests/core/error_of.hpp"
#include "tests/device/fake_gpus.hpp"
#include "tests/device/host_stream.hpp"

namespace headrace::device::cuda {
namespace {

using fixtures::allocations;
using fixtures::set_gpus;

constexpr std::size_t kMib = std::size_t{1} << 20;

class MemoryPools : public ::testing::Test {
 protected:
  void SetUp() override { set_gpus(2, 100 * kMib); }
  void TearDown() override {
    set_memory_relief(nullptr);
    set_gpus(1);
  }
};

TEST_F(MemoryPools, WhatWasReservedIsEnough) {
  const auto pool = std::make_shared<MemoryPool>(0);
  ASSERT_TRUE(pool->ordered());
  pool->reserve(40 * kMib);
  EXPECT_LE(free_bytes(), 60 * kMib);
  Stream a(pool), b(pool);
  for (int round = 0; round < 5; ++round) {
    DeviceBuffer first, second;
    for (std::size_t mib = 1; mib <= 12; ++mib) {
      first.reserve(mib * kMib, a);
      second.reserve(mib * kMib, b);
    }
  }
  EXPECT_EQ(allocations().grown, 1);
  EXPECT_EQ(allocations().plain, 0);
  DeviceBuffer more;
  more.reserve(50 * kMib, a);
  EXPECT_EQ(allocations().grown, 2);
}

TEST_F(MemoryPools, OfOneThatIsGoneNothingIsKept) {
  const std::size_t before = free_bytes();
  DeviceBuffer buffer;
  {
    const auto pool = std::make_shared<MemoryPool>(0);
    pool->reserve(20 * kMib);
    const Stream stream(pool);
    buffer.reserve(kMib, stream);
  }
  EXPECT_LT(free_bytes(), before);
  buffer = DeviceBuffer();
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(MemoryPools, AreOfTheirOwnGpuOnAnyThread) {
  use_device(0);
  const auto pool = std::make_shared<MemoryPool>(1);
  pool->reserve(kMib);
  const Stream stream(pool);
  EXPECT_EQ(stream.device(), 1);
  DeviceBuffer buffer;
  buffer.reserve(1000, stream);
  EXPECT_EQ(free_bytes(), 100 * kMib);
  void* data = pool->allocate(1000, nullptr);
  pool->release(data, nullptr);
}

TEST_F(MemoryPools, AMemoryThatGrowsIsReadToTheEndBeforeItIsUsedAgain) {
  const auto pool = std::make_shared<MemoryPool>(0);
  pool->reserve(4 * kMib);
  std::vector<char> seen(1000);
  std::optional<Stream> stream(pool);
  Stream other(pool);
  DeviceBuffer buffer, after, next;
  buffer.reserve(1000, *stream);
  after.reserve(1000, *stream);  // so that the one before it can't grow where it lies
  const void* was = buffer.as<void>();
  stream->get()->put([to = buffer.as<char>()] { std::memset(to, 'a', 1000); });
  copy_to_host(seen.data(), buffer.as<void>(), seen.size(), *stream);
  buffer.reserve(2000, *stream);
  next.reserve(900, other);
  ASSERT_EQ(next.as<void>(), was);
  other.get()->put([to = next.as<char>()] { std::memset(to, 'b', 900); });
  other.wait();
  EXPECT_EQ(seen, std::vector<char>(1000, 'a'));
  stream.reset();  // the buffers keep what orders their release
  buffer = DeviceBuffer();
}

TEST_F(MemoryPools, WithoutAPoolAStreamsMemoryIsTheDrivers) {
  const Stream stream;
  DeviceBuffer buffer;
  buffer.reserve(1000, stream);
  EXPECT_EQ(allocations().plain, 1);
  set_gpus(1, 100 * kMib, false);
  const auto pool = std::make_shared<MemoryPool>(0);
  EXPECT_FALSE(pool->ordered());
  pool->reserve(10 * kMib);
  EXPECT_THROW(pool->reserve(101 * kMib), Error);
  const Stream of_none(pool);
  DeviceBuffer second;
  second.reserve(1000, of_none);
  EXPECT_EQ(allocations().grown, 0);
  EXPECT_EQ(free_bytes(), 100 * kMib - 1000 - HostBuffer::kTailPadding);
}

DeviceBuffer* kept = nullptr;
int asked = 0;

TEST_F(MemoryPools, AShortageIsToldToWhoKeepsMemoryAndTriedOnceMore) {
  DeviceBuffer cache(70 * kMib);
  kept = &cache;
  asked = 0;
  const auto pool = std::make_shared<MemoryPool>(0);
  EXPECT_THROW(pool->reserve(50 * kMib), Error);
  set_memory_relief([]() noexcept {
    ++asked;
    *kept = DeviceBuffer();
  });
  pool->reserve(50 * kMib);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(error_of(ErrorCode::memory, [&] { pool->reserve(60 * kMib); })
                .rfind("CUDA: out of memory", 0),
            0u);
  EXPECT_EQ(asked, 2);
  cache.reserve(30 * kMib);
  DeviceBuffer plain;
  plain.reserve(40 * kMib);
  EXPECT_EQ(asked, 3);
  const Stream stream(pool);
  DeviceBuffer in_order;
  EXPECT_THROW(in_order.reserve(90 * kMib, stream), Error);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(in_order.size(), 0u);
}

TEST_F(MemoryPools, ABudgetCountsWhatALibraryTakes) {
  const auto pool = std::make_shared<MemoryPool>(0);
  pool->reserve(8 * kMib);
  const MemoryBudget budget(4 * kMib, "the test", "Take less", pool);
  Stream stream(pool);
  void* data = budget.allocate(3 * kMib, stream.get());
  EXPECT_EQ(budget.used(), 3 * kMib);
  EXPECT_THROW(budget.allocate(2 * kMib, stream.get()), Error);
  std::vector<char> seen(1000);
  stream.get()->put([data] { std::memset(data, 'a', 1000); });
  copy_to_host(seen.data(), data, seen.size(), stream);
  budget.release(data, 3 * kMib, nullptr);  // nobody says which stream: all work is done first
  EXPECT_EQ(seen, std::vector<char>(1000, 'a'));
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_EQ(allocations().grown, 1);
  EXPECT_EQ(allocations().plain, 0);
  DeviceBuffer buffer;
  budget.reserve(buffer, 2 * kMib, stream);
  EXPECT_EQ(buffer.size(), 2 * kMib + 2 * kMib / 8);
  EXPECT_EQ(budget.used(), buffer.size());
  EXPECT_EQ(allocations().plain, 0);
}

/// Batches of any size, several in flight: the GPU's side takes no memory of the driver's.
TEST_F(MemoryPools, StagingStopsNoStream) {
  const auto pool = std::make_shared<MemoryPool>(0);
  pool->reserve(8 * kMib);
  Stream stream(pool);
  StagingRing ring;
  std::vector<std::vector<char>> seen(12);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i].resize(1000 * (i + 1));
    StagingBuffer& staging = ring.take();
    const std::size_t at = staging.room<char>(seen[i].size());
    staging.fix(stream);
    std::memset(staging.host<char>(at), static_cast<char>('a' + i), seen[i].size());
    staging.send(stream);
    copy_to_host(seen[i].data(), staging.device<char>(at), seen[i].size(), stream);
    staging.sent_and_read(stream);
  }
  stream.wait();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], std::vector<char>(1000 * (i + 1), static_cast<char>('a' + i)));
  }
  EXPECT_EQ(allocations().plain, 0);
  EXPECT_EQ(allocations().grown, 1);
}

}  // namespace
}  // namespace headrace::device::cuda
