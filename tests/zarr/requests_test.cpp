// A store whose requests cost time and end in any order, as those of object storage do.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

#include "headrace/zarr/array.hpp"
#include "headrace/zarr/defaults.hpp"
#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::MemoryStore;
using test::Shape;

/// Answers from a thread of its own, the latest request first; counts what it is asked.
class FarStore : public storage::Store {
 public:
  FarStore(std::shared_ptr<MemoryStore> inner, storage::RequestCost cost)
      : inner_(std::move(inner)), cost_(cost), thread_([this] { answer(); }) {}
  ~FarStore() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    asked_.notify_one();
    thread_.join();
  }

  class FarObject : public storage::Object {
   public:
    FarObject(std::shared_ptr<const storage::Object> inner, const FarStore& owner)
        : inner_(std::move(inner)), owner_(owner) {}
    std::uint64_t size_bytes() const override { return inner_->size_bytes(); }
    std::string describe() const override { return "far object"; }
    storage::RequestCost cost() const override { return owner_.cost_; }
    void read(std::uint64_t offset, std::span<std::byte> dst) const override {
      ++owner_.requests;
      inner_->read(offset, dst);
    }
    void start_read(std::uint64_t offset, std::span<std::byte> dst,
                    const storage::ReadDone& done) const override {
      owner_.ask([inner = inner_, offset, dst, done] { inner->start_read(offset, dst, done); });
    }

   private:
    std::shared_ptr<const storage::Object> inner_;
    const FarStore& owner_;
  };

  std::shared_ptr<const storage::Object> open(const std::string& key) const override {
    ++requests;
    return wrapped(inner_->open(key));
  }
  void start_open(const std::string& key, std::size_t tail_bytes,
                  const storage::OpenDone& done) const override {
    ask([this, key, tail_bytes, done] {
      inner_->start_open(key, tail_bytes,
                         [&](storage::OpenedTail opened, std::exception_ptr failure) {
                           opened.object = wrapped(opened.object);
                           done(std::move(opened), failure);
                         });
    });
  }
  storage::RequestCost cost() const override { return cost_; }
  void put(const std::string&, std::span<const std::byte>) override { FAIL(); }
  void erase(const std::string&) override { FAIL(); }
  std::vector<std::string> list(const std::string& prefix) const override {
    return inner_->list(prefix);
  }
  std::string describe(const std::string& key) const override { return "far:" + key; }

  mutable std::atomic<int> requests{0}, most_waiting{0};

 private:
  std::shared_ptr<const storage::Object> wrapped(std::shared_ptr<const storage::Object> o) const {
    return o ? std::make_shared<FarObject>(std::move(o), *this) : nullptr;
  }

  void ask(std::function<void()> answer) const {
    ++requests;
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(answer));
    most_waiting = std::max(most_waiting.load(), static_cast<int>(waiting_.size()));
    asked_.notify_one();
  }

  void answer() {
    std::unique_lock lock(mutex_);
    while (true) {
      asked_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      // More may come meanwhile: a store that is far away answers none before it has travelled.
      asked_.wait_for(lock, std::chrono::milliseconds(20), [&] { return ends_; });
      auto all = std::exchange(waiting_, {});
      lock.unlock();
      for (auto one = all.rbegin(); one != all.rend(); ++one) (*one)();
      lock.lock();
    }
  }

  std::shared_ptr<MemoryStore> inner_;
  storage::RequestCost cost_;
  mutable std::mutex mutex_;
  mutable std::condition_variable asked_;
  mutable std::deque<std::function<void()>> waiting_;
  bool ends_ = false;
  std::thread thread_;
};

const Shape kShape{3, 70, 90};

class FarArray : public ::testing::Test {
 protected:
  FarArray() {
    ArrayMetadata metadata = test::metadata_of(
        kShape, {3, 32, 64}, DType::uint8,
        Codecs::sharded({1, 16, 16}, Codecs::blosc_zstd(DType::uint8, 1, "noshuffle", 256)));
    metadata.fill_value = {std::byte{9}};
    elements_ = test::smooth_bytes(3 * 70 * 90, 4);
    test::write_array(inner_, "a", metadata, elements_);
  }

  void open(storage::RequestCost cost) {
    far_ = std::make_shared<FarStore>(inner_, cost);
    array_ = Array::open(far_, "a");
    far_->requests = 0;
  }

  std::shared_ptr<MemoryStore> inner_ = std::make_shared<MemoryStore>();
  std::vector<std::byte> elements_;
  std::shared_ptr<FarStore> far_;
  std::shared_ptr<const Array> array_;
};

TEST_F(FarArray, AShardsIndexCostsOneRequestAndNoneWhenItIsKnown) {
  open({.merge_gap_bytes = 1 << 20, .asynchronous = true});
  const auto want = test::expected_region(elements_, kShape, 1, {0, 0, 0}, kShape);
  EXPECT_EQ(test::read_region(*array_, {0, 0, 0}, kShape), want);
  EXPECT_EQ(far_->requests, 6 + 6);  // six shards: each is opened with its index, and read
  far_->requests = 0;
  EXPECT_EQ(test::read_region(*array_, {0, 0, 0}, kShape), want);
  EXPECT_EQ(far_->requests, 6 + 6);  // this store keeps no objects open: one request finds each
}

TEST_F(FarArray, AnAbsentShardCostsNoMoreThanToFindThatOut) {
  inner_->erase("a/c/0/0/0");
  open({.asynchronous = true});
  EXPECT_EQ(test::read_region(*array_, {0, 0, 0}, {3, 32, 64}),
            std::vector<std::byte>(3 * 32 * 64, std::byte{9}));
  EXPECT_EQ(far_->requests, 1);
}

TEST_F(FarArray, AllRequestsAreUnderWayAtOnceWhateverTheThreads) {
  for (const int threads : {1, 3}) {
    open({.merge_gap_bytes = 0, .largest_read_bytes = 1, .asynchronous = true});
    ThreadPool pool(threads);
    std::vector<std::byte> out(3 * 70 * 90);
    BatchRead batch;
    batch.add(array_, {{0, 0, 0}, kShape, out.data(), test::c_strides(kShape, 1), {}});
    batch.fetch(pool);
    batch.decode(0);
    EXPECT_EQ(out, elements_);
    EXPECT_EQ(batch.stats().ranges_issued, 6U + 90U);  // 30 chunks of each channel, one a request
    EXPECT_GT(far_->most_waiting, 30);
  }
}

TEST_F(FarArray, RangesAreMergedByWhatTheStoreSays) {
  const auto issued = [&](storage::RequestCost cost) {
    open(cost);
    test::read_region(*array_, {0, 0, 0}, {3, 1, 1});  // the index of the shard is known now
    std::vector<std::byte> out(3);
    ThreadPool pool(1);
    BatchRead batch;
    // One chunk of each channel; what lies between them in the shard is not wanted.
    batch.add(array_, {{0, 0, 0}, {3, 1, 1}, out.data(), {1, 1, 1}, {}});
    batch.fetch(pool);
    return batch.stats().ranges_issued;
  };
  EXPECT_EQ(issued({.merge_gap_bytes = 0, .asynchronous = true}), 3U);
  EXPECT_EQ(issued({.merge_gap_bytes = 1 << 20, .asynchronous = true}), 1U);
  EXPECT_EQ(issued({.merge_gap_bytes = 1 << 20, .largest_read_bytes = 1, .asynchronous = true}),
            3U);
}

TEST_F(FarArray, OneDamagedShardFailsItsRegionAlone) {
  inner_->objects["a/c/0/1/0"].resize(10);
  open({.asynchronous = true});
  std::vector<std::byte> good(3 * 32 * 64), bad(3 * 32 * 64);
  ThreadPool pool(2);
  BatchRead batch;
  const Shape size{3, 32, 64};
  batch.add(array_, {{0, 0, 0}, size, good.data(), test::c_strides(size, 1), {}});
  batch.add(array_, {{0, 32, 0}, size, bad.data(), test::c_strides(size, 1), {}});
  batch.fetch(pool);
  batch.decode(0);
  EXPECT_EQ(good, test::expected_region(elements_, kShape, 1, {0, 0, 0}, size));
  const std::string text = error_of(ErrorCode::corrupt, [&] { batch.decode(1); });
  EXPECT_NE(text.find("c/0/1/0"), std::string::npos) << text;
}

}  // namespace
}  // namespace headrace::zarr
