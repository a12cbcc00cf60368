// Where a GPU decodes, a batch has no samples to be shared among workers: so the work on a batch
// itself is shared. The host stands in for the GPU (device_loader_test.cpp).
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"
#include "tests/loader/batch_configs.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

/// A plan whose first batch waits, for some seconds at most, until `threads` of them draw at once.
class MeetingPlan : public SamplePlan {
 public:
  MeetingPlan(std::shared_ptr<const SamplePlan> plan, std::size_t threads)
      : plan_(std::move(plan)), threads_(threads) {}

  SampleSite site(std::uint64_t epoch, std::uint64_t index) const override {
    meet();
    if (index == failing) fail(ErrorCode::corrupt, "sample {} fails", index);
    if (index == failing + 1) fail(ErrorCode::corrupt, "the one after it fails too");
    return plan_->site(epoch, index);
  }
  std::uint64_t samples_per_epoch() const override { return plan_->samples_per_epoch(); }
  bool random() const override { return plan_->random(); }

  bool met() const {
    const std::lock_guard lock(mutex_);
    return seen_.size() >= threads_;
  }
  std::uint64_t failing = ~std::uint64_t{1};

 private:
  void meet() const {
    std::unique_lock lock(mutex_);
    seen_.insert(std::this_thread::get_id());
    all_.notify_all();
    all_.wait_until(lock, until_, [&] { return seen_.size() >= threads_; });
  }

  std::shared_ptr<const SamplePlan> plan_;
  std::size_t threads_;
  const std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  mutable std::mutex mutex_;
  mutable std::condition_variable all_;
  mutable std::set<std::thread::id> seen_;
};

class SharedPreparing : public ::testing::Test {
 protected:
  SharedPreparing() {
    fixtures::StoreSpec spec;
    spec.images = 2;
    spec.height = 500;
    spec.width = 460;
    spec.levels = 2;
    fixtures::write_store(folder_.path("s.zarr"), spec);
    cohort_ = cohort::Cohort::open(folder_.path("s.zarr"));
    here_ = LoaderConfig::parse(fixtures::kSlides, "run.yaml");
    there_ = here_;
    there_.loader.device = device::DeviceChoice::cuda;
    there_.loader.element = ElementChoice::float32;
    there_.loader.layout = LayoutChoice::channels_first;
    there_.loader.decode = zarr::DecodeOn::gpu;
    there_.loader.threads = 5;
    there_.loader.prefetch = 2;
    // So that every worker with a place of the ring and every helper draws a sample at once.
    there_.sampling.batch = here_.sampling.batch = 8;
  }

  fixtures::TemporaryFolder folder_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  LoaderConfig here_, there_;
};

TEST_F(SharedPreparing, AllThreadsPrepareAndTheBytesAreTheCpus) {
  const auto plan = make_training_plan(*cohort_, here_);
  const auto meeting = std::make_shared<MeetingPlan>(plan, 5);
  Loader cpu(cohort_, here_, plan, true, 0, 0, 6), gpu(cohort_, there_, meeting, true, 0, 0, 6);
  while (const auto wanted = cpu.next()) {
    const auto given = gpu.next();
    ASSERT_TRUE(given);
    const Batch there = given->on_host();
    ASSERT_EQ(there.images_bytes(), wanted->images_bytes());
    EXPECT_EQ(0, std::memcmp(there.images, wanted->images, there.images_bytes()));
    EXPECT_EQ(0, std::memcmp(there.labels, wanted->labels, there.labels_bytes()));
  }
  EXPECT_FALSE(gpu.next());
  EXPECT_TRUE(meeting->met()) << "five threads, two places: three threads did nothing";
}

TEST_F(SharedPreparing, OfSeveralSamplesThatFailTheFirstIsTheError) {
  const auto plan = std::make_shared<MeetingPlan>(make_training_plan(*cohort_, here_), 1);
  plan->failing = 3;
  for (const int threads : {1, 5}) {
    there_.loader.threads = threads;
    Loader gpu(cohort_, there_, plan, true, 0, 0, 6);
    try {
      gpu.next();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "sample 3 fails");
    }
  }
}

}  // namespace
}  // namespace headrace::loader
