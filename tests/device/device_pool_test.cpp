// Memory that goes from a writer's stream to a consumer's and back, on several GPUs (the host in
// their place, whose streams do nothing before somebody waits): nothing is written before its last
// reader is done, whichever thread lets it go.
#include "headrace/device/device_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "headrace/device/device_scope.hpp"
#include "tests/core/error_of.hpp"
#include "tests/device/fake_gpus.hpp"
#include "tests/device/host_stream.hpp"

namespace headrace::device::cuda {
namespace {

using fixtures::default_stream;
using fixtures::set_gpus;
using fixtures::used_gpus;
using Lease = std::shared_ptr<DeviceLease>;

constexpr std::size_t kBytes = 1000;

template <typename Body>
void on_another_thread(const Body& body) {
  std::thread(body).join();
}

class DevicePools : public ::testing::Test {
 protected:
  void SetUp() override {
    set_gpus(3);
    use_device(1);
  }
  void TearDown() override { set_gpus(1); }

  /// A lease whose memory `writer` fills with `value`, when it comes to it.
  static Lease written(DevicePool& pool, Stream& writer, char value) {
    Lease lease = pool.take(kBytes, writer);
    const DeviceScope scope(writer.device());
    writer.get()->put([to = lease->buffer.as<char>(), value] { std::memset(to, value, kBytes); });
    lease->ready.record(writer);
    return lease;
  }
  /// Puts reading of the whole memory into the consumer's stream.
  static void read_later(const DeviceLease& lease, CUstream_st* consumer, int gpu,
                         std::vector<char>& into) {
    into.assign(kBytes, 0);
    const DeviceScope scope(gpu);
    consumer->put(
        [from = lease.buffer.as<char>(), &into] { std::memcpy(into.data(), from, kBytes); });
  }
  static bool all(const std::vector<char>& values, char value) {
    return values == std::vector<char>(kBytes, value);
  }
};

TEST_F(DevicePools, ALeaseGoesBackOnItsOwnGpuFromAThreadOfAnother) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer;
  std::vector<char> seen;
  Lease lease = written(*pool, writer, 'a');
  const void* memory = lease->buffer.as<void>();
  lease->hold(nullptr);  // the default stream of GPU 1
  read_later(*lease, default_stream(1), 1, seen);
  on_another_thread([&] {
    use_device(2);
    lease.reset();
    EXPECT_EQ(current_device(), 2);
  });
  EXPECT_EQ(used_gpus(), (std::set<int>{1, 2}));
  const Lease again = written(*pool, writer, 'b');
  EXPECT_EQ(again->buffer.as<void>(), memory) << "it was not reused";
  writer.wait();
  EXPECT_TRUE(all(seen, 'a'));
}

TEST_F(DevicePools, AThreadThatUsedNoGpuMakesNoContextOnGpuZero) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer;
  std::vector<char> seen;
  Lease lease = written(*pool, writer, 'a');
  on_another_thread([&] {
    ASSERT_EQ(current_device(), 0);
    lease->hold(nullptr);
    read_later(*lease, default_stream(1), 1, seen);
    lease.reset();
  });
  EXPECT_EQ(used_gpus(), (std::set<int>{1}));
  written(*pool, writer, 'b');
  writer.wait();
  EXPECT_TRUE(all(seen, 'a'));
}

TEST_F(DevicePools, TakesForTheWritersGpuOnAnyThread) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer;
  std::vector<char> seen;
  use_device(2);
  for (const char value : {'a', 'b', 'c'}) {
    Lease lease = written(*pool, writer, value);
    EXPECT_EQ(lease->device, 1);
    lease->hold(nullptr);
    read_later(*lease, default_stream(1), 1, seen);
    lease.reset();
    EXPECT_EQ(current_device(), 2);
    fixtures::finish(default_stream(1));
    EXPECT_TRUE(all(seen, value));
  }
}

/// Many are in flight before the first consumer has done anything.
TEST_F(DevicePools, ASlowConsumerReadsWhatItWasGiven) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writers[2], consumer;
  std::vector<std::vector<char>> seen(20);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Lease lease = written(*pool, writers[i % 2], static_cast<char>('a' + i));
    lease->hold(consumer.get());
    read_later(*lease, consumer.get(), 1, seen[i]);
  }
  for (Stream& writer : writers) writer.wait();
  consumer.wait();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_TRUE(all(seen[i], static_cast<char>('a' + i))) << i;
  }
}

/// What the test before would find: a consumer that is not waited for reads what came later.
TEST_F(DevicePools, AllStreamsThatItWasHeldForAreDoneFirst) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer, first, second;
  std::vector<char> seen_by_first, seen_by_second;
  Lease lease = written(*pool, writer, 'a');
  lease->hold(first.get());
  lease->hold(second.get());
  read_later(*lease, second.get(), 1, seen_by_second);
  read_later(*lease, first.get(), 1, seen_by_first);  // also after it was held for another one
  const void* memory = lease->buffer.as<void>();
  lease.reset();
  const Lease again = written(*pool, writer, 'b');
  ASSERT_EQ(again->buffer.as<void>(), memory) << "it was not reused";
  writer.wait();
  EXPECT_TRUE(all(seen_by_first, 'a'));
  EXPECT_TRUE(all(seen_by_second, 'a'));
}

TEST_F(DevicePools, AConsumerThatDoesNotSayWhereItReadsIsOverwritten) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer, consumer;
  std::vector<char> seen;
  Lease lease = written(*pool, writer, 'a');
  lease->ready.hold(consumer.get());
  read_later(*lease, consumer.get(), 1, seen);
  lease.reset();
  written(*pool, writer, 'b');
  writer.wait();
  consumer.wait();
  EXPECT_TRUE(all(seen, 'b'));
}

/// The pool of batches ends, and its memory is somebody else's, before the consumer has begun.
TEST_F(DevicePools, MemoryThatIsReleasedIsReadToTheEndFirst) {
  const auto memory = std::make_shared<MemoryPool>(1);
  memory->reserve(1 << 20);
  Stream writer(memory), other(memory), consumer;
  std::vector<char> seen;
  const void* was = nullptr;
  {
    const auto pool = std::make_shared<DevicePool>(MemoryBudget());
    Lease lease = written(*pool, writer, 'a');
    was = lease->buffer.as<void>();
    lease->hold(consumer.get());
    read_later(*lease, consumer.get(), 1, seen);
  }
  DeviceBuffer next;
  next.reserve(kBytes, other);
  EXPECT_EQ(next.as<void>(), was);
  other.get()->put([to = next.as<char>()] { std::memset(to, 'b', kBytes); });
  other.wait();
  EXPECT_TRUE(all(seen, 'a'));
  EXPECT_EQ(fixtures::allocations().plain, 0);
}

TEST_F(DevicePools, WhereTheConsumersStreamIsLostAllWorkIsDoneFirst) {
  const MemoryBudget budget(1 << 20, "the test", "Take less");
  const auto pool = std::make_shared<DevicePool>(budget);
  Stream writer, consumer;
  std::vector<char> seen;
  Lease lease = written(*pool, writer, 'a');
  lease->hold(consumer.get());
  read_later(*lease, consumer.get(), 1, seen);
  use_device(2);
  Stream elsewhere;
  lease->read_in(elsewhere.get());  // no event of GPU 1 can be recorded there
  lease.reset();
  EXPECT_TRUE(all(seen, 'a'));
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(DevicePools, RefusesAStreamThatIsAnotherOnEachThread) {
  const auto pool = std::make_shared<DevicePool>(MemoryBudget());
  Stream writer;
  const Lease lease = written(*pool, writer, 'a');
  const auto hold = [&] { lease->hold(reinterpret_cast<CUstream_st*>(2)); };
  EXPECT_EQ(
      error_of(ErrorCode::usage, hold).rfind("a batch on a GPU was taken for the per-thread", 0),
      0u);
}

}  // namespace
}  // namespace headrace::device::cuda
