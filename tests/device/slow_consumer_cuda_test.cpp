// On a GPU: memory that goes between a writer's stream and that of a consumer which is far behind.
// Nothing may be overwritten before it has been read. Without a GPU none of this is shown, and each
// test says so.
#include <gtest/gtest.h>

#include <memory>

#include "headrace/device/device_pool.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_pool.hpp"
#include "tests/device/slow_consumer.hpp"

namespace headrace::device::cuda {
namespace {

using fixtures::count_others;
using fixtures::fill;
using fixtures::spin;

constexpr std::int64_t kWords = 1 << 20;
constexpr std::size_t kBytes = kWords * sizeof(std::uint32_t);
constexpr std::uint32_t kPoison = 0xA5A5A5A5;

class SlowConsumer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "not run: " << describe();
    wrong_ = std::make_unique<DeviceBuffer>(sizeof(unsigned));
    consumer_ = std::make_unique<Stream>();
    clear(wrong_->as<void>(), sizeof(unsigned), *consumer_);
  }
  static std::uint32_t* words_of(const DeviceLease& lease) {
    return lease.buffer.as<std::uint32_t>();
  }
  static void write(DeviceLease& lease, std::uint32_t value, Stream& writer) {
    fill(words_of(lease), kWords, value, writer);
    lease.ready.record(writer);
  }
  /// Looks at the words long after the writer could have begun the next ones.
  void look(const DeviceLease& lease, std::uint32_t value) {
    spin(30'000'000, *consumer_);
    count_others(words_of(lease), kWords, value, wrong_->as<unsigned>(), *consumer_);
  }
  unsigned wrong() {
    unsigned count = 0;
    copy_to_host(&count, wrong_->as<void>(), sizeof count, *consumer_);
    consumer_->wait();
    return count;
  }

  std::unique_ptr<DeviceBuffer> wrong_;
  std::unique_ptr<Stream> consumer_;
};

TEST_F(SlowConsumer, ReadsWhatItWasGiven) {
  const auto memory = std::make_shared<MemoryPool>(current_device());
  memory->reserve(8 * kBytes);
  Stream first(memory), second(memory);
  auto batches = std::make_shared<DevicePool>(MemoryBudget());
  const void* same = nullptr;
  for (std::uint32_t i = 0; i < 20; ++i) {
    Stream& writer = i % 2 == 0 ? first : second;
    const auto lease = batches->take(kBytes, writer);
    if (same == nullptr) same = lease->buffer.as<void>();
    ASSERT_EQ(lease->buffer.as<void>(), same) << "it does not go round";
    write(*lease, i, writer);
    lease->hold(consumer_->get());
    look(*lease, i);
  }
  // Its pool ends, and what was released is poisoned, while the consumer is still behind.
  batches.reset();
  DeviceBuffer next;
  next.reserve(kBytes, first);
  fill(next.as<std::uint32_t>(), kWords, kPoison, first);
  first.wait();
  EXPECT_EQ(wrong(), 0u);
}

/// A buffer that grows in its stream's order leaves its old memory to the work before.
TEST_F(SlowConsumer, ReadsABufferThatGrows) {
  const auto memory = std::make_shared<MemoryPool>(current_device());
  memory->reserve(64 * kBytes);
  consumer_ = std::make_unique<Stream>(memory);
  Stream other(memory);
  DeviceBuffer buffer;
  clear(wrong_->as<void>(), sizeof(unsigned), *consumer_);
  for (std::uint32_t i = 1; i <= 8; ++i) {
    buffer.reserve(i * kBytes, *consumer_);
    fill(buffer.as<std::uint32_t>(), kWords, i, *consumer_);
    spin(30'000'000, *consumer_);
    count_others(buffer.as<std::uint32_t>(), kWords, i, wrong_->as<unsigned>(), *consumer_);
    DeviceBuffer next;
    next.reserve(kBytes, other);
    fill(next.as<std::uint32_t>(), kWords, kPoison, other);
  }
  EXPECT_EQ(wrong(), 0u);
}

/// What the tests above would find.
TEST_F(SlowConsumer, ThatDoesNotSayWhereItReadsIsOverwritten) {
  Stream writer;
  const auto batches = std::make_shared<DevicePool>(MemoryBudget());
  {
    const auto lease = batches->take(kBytes, writer);
    write(*lease, 1, writer);
    lease->ready.hold(consumer_->get());
    look(*lease, 1);
  }
  const auto lease = batches->take(kBytes, writer);
  write(*lease, kPoison, writer);
  EXPECT_GT(wrong(), 0u);
}

}  // namespace
}  // namespace headrace::device::cuda
