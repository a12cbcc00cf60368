// What a loader on a GPU owes to those who take its batches, with the host in the place of several
// GPUs whose streams do nothing before somebody waits: a slow consumer reads what it was given,
// batches end on any thread, and no batch stops the GPU to get memory.
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/loader/dlpack.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/ring_memory.hpp"
#include "tests/core/error_of.hpp"
#include "tests/device/fake_gpus.hpp"
#include "tests/device/host_stream.hpp"
#include "tests/loader/batch_configs.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

using device::cuda::DeviceScope;
using device::cuda::Stream;
using device::cuda::use_device;
namespace gpus = device::cuda::fixtures;
using zarr::DecodeOn;

constexpr std::uint64_t kBatches = 12;

class DeviceConsumer : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::StoreSpec spec;
    spec.images = 2;
    spec.height = 500;
    spec.width = 460;
    spec.levels = 2;
    spec.checked = true;
    fixtures::write_store(folder_->path("c.zarr"), spec);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  /// Batches on GPU 1 of three.
  void SetUp() override {
    gpus::set_gpus(3);
    setenv("LOCAL_RANK", "1", 1);
  }
  void TearDown() override {
    unsetenv("LOCAL_RANK");
    gpus::set_gpus(1);
  }

  static LoaderConfig config(DecodeOn decode, bool there = true) {
    LoaderConfig config = LoaderConfig::parse(fixtures::kSlides, "run.yaml");
    config.loader.element = ElementChoice::float32;
    config.loader.layout = LayoutChoice::channels_first;
    config.loader.prefetch = 3;
    config.loader.device = there ? device::DeviceChoice::cuda : device::DeviceChoice::cpu;
    config.loader.decode = there ? decode : DecodeOn::automatic;
    return config;
  }
  static Loader loader(const LoaderConfig& config) {
    const auto cohort = cohort::Cohort::open(folder_->path("c.zarr"));
    return Loader(cohort, config, make_training_plan(*cohort, config), true, 0, 0, kBatches);
  }
  /// The batches of a loader on the CPU.
  static std::vector<std::vector<std::byte>> wanted() {
    std::vector<std::vector<std::byte>> out;
    Loader here = loader(config(DecodeOn::cpu, false));
    while (const auto batch = here.next()) out.push_back(bytes(*batch));
    return out;
  }
  static std::vector<std::byte> bytes(const Batch& batch) {
    std::vector<std::byte> out(batch.images_bytes() + batch.labels_bytes());
    std::memcpy(out.data(), batch.images, batch.images_bytes());
    std::memcpy(out.data() + batch.images_bytes(), batch.labels, batch.labels_bytes());
    return out;
  }
  /// Puts a look at the whole batch into a stream of GPU 1.
  static void look_later(const Batch& batch, CUstream_st* stream, std::vector<std::byte>& seen) {
    Batch view = batch;
    view.lease.reset();
    seen.assign(view.images_bytes() + view.labels_bytes(), std::byte{0});
    const DeviceScope scope(1);
    stream->put([view, &seen] { seen = bytes(view); });
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

/// It has done nothing when all batches have been made and given back, over and over in the memory
/// of a few.
TEST_F(DeviceConsumer, AsSlowAsCanBeReadsWhatItWasGiven) {
  const auto expected = wanted();
  for (const DecodeOn decode : {DecodeOn::cpu, DecodeOn::gpu}) {
    for (const bool of_its_own : {true, false}) {
      use_device(1);
      Stream stream;
      CUstream_st* const consumer = of_its_own ? stream.get() : gpus::default_stream(1);
      std::vector<std::vector<std::byte>> seen(kBatches);
      {
        Loader there = loader(config(decode));
        for (std::uint64_t i = 0; i < kBatches; ++i) {
          Batch batch = *there.next();
          EXPECT_EQ(batch.device, 1);
          batch.hold(of_its_own ? consumer : nullptr);
          look_later(batch, consumer, seen[i]);
          if (i % 2 == 0) batch.release_on(of_its_own ? consumer : nullptr);
        }
      }
      gpus::finish(consumer);
      EXPECT_EQ(seen, expected);
    }
  }
}

/// What the test before would find. Whether memory is used again before a late look depends on the
/// threads: nearly always it is, so one of many tries shows it.
TEST_F(DeviceConsumer, ThatDoesNotSayWhereItReadsIsOverwritten) {
  constexpr int kTries = 20;
  const auto expected = wanted();
  bool overwritten = false;
  for (int i = 0; i < kTries && !overwritten; ++i) {
    use_device(1);
    Stream stream;
    std::vector<std::vector<std::byte>> seen(kBatches);
    {
      Loader there = loader(config(DecodeOn::cpu));
      for (auto& batch_seen : seen) {
        const Batch batch = *there.next();
        batch.lease->ready.hold(stream.get());
        look_later(batch, stream.get(), batch_seen);
      }
    }
    stream.wait();
    overwritten = seen != expected;
  }
  EXPECT_TRUE(overwritten);
}

/// The owner of a tensor may end on a thread that works on another GPU, or on none.
TEST_F(DeviceConsumer, DlpackTensorsEndOnAnyThread) {
  const auto expected = wanted();
  for (const int gpu_of_thread : {-1, 0, 2}) {
    gpus::set_gpus(3);
    std::vector<std::vector<std::byte>> seen(kBatches);
    use_device(1);
    CUstream_st* const consumer = gpus::default_stream(1);
    {
      Loader there = loader(config(DecodeOn::gpu));
      for (std::uint64_t i = 0; i < kBatches; ++i) {
        DLManagedTensor *images = nullptr, *labels = nullptr;
        {
          const Batch batch = *there.next();
          batch.hold(nullptr);
          look_later(batch, consumer, seen[i]);
          images = dlpack::share(batch, dlpack::Part::images);
          labels = dlpack::share(batch, dlpack::Part::labels);
        }
        EXPECT_EQ(images->dl_tensor.device.device_id, 1);
        std::thread([&] {
          if (gpu_of_thread >= 0) use_device(gpu_of_thread);
          labels->deleter(labels);
          images->deleter(images);
          if (gpu_of_thread >= 0) {
            EXPECT_EQ(device::cuda::current_device(), gpu_of_thread);
          }
        }).join();
      }
    }
    gpus::finish(consumer);
    EXPECT_EQ(seen, expected);
    const std::set<int> used =
        gpu_of_thread < 0 ? std::set<int>{1} : std::set<int>{1, gpu_of_thread};
    EXPECT_EQ(gpus::used_gpus(), used);
  }
}

TEST_F(DeviceConsumer, WorksOnAThreadOfAnotherGpuAndLeavesItThere) {
  const auto expected = wanted();
  use_device(2);
  for (const DecodeOn decode : {DecodeOn::cpu, DecodeOn::gpu}) {
    Loader there = loader(config(decode));
    EXPECT_EQ(device::cuda::current_device(), 2);
    for (std::uint64_t i = 0; i < kBatches; ++i) {
      const Batch batch = *there.next();
      if (i % 2 == 0) batch.hold(nullptr);
      EXPECT_EQ(bytes(batch.on_host()), expected[i]);
      EXPECT_EQ(device::cuda::current_device(), 2);
    }
  }
  EXPECT_EQ(gpus::used_gpus(), (std::set<int>{1, 2}));
}

/// All of it is taken when the loader is made: from then on no cudaMalloc, no cudaFree, and the pool
/// does not ask for more.
TEST_F(DeviceConsumer, NoBatchStopsTheGpuForMemory) {
  for (const auto& [decode, direct] : {std::pair{DecodeOn::cpu, storage::GpuDirect::off},
                                       {DecodeOn::gpu, storage::GpuDirect::off},
                                       {DecodeOn::gpu, storage::GpuDirect::on}}) {
    gpus::set_gpus(3);
    LoaderConfig run = config(decode);
    run.loader.gpudirect = direct;
    run.loader.device_memory_mib = 64;
    use_device(1);
    const std::size_t before = device::cuda::free_bytes();
    {
      Loader there = loader(run);
      const gpus::Allocations at_start = gpus::allocations();
      EXPECT_EQ(at_start.grown, 1);
      if (direct == storage::GpuDirect::off) {
        EXPECT_EQ(at_start.plain, 0);
        EXPECT_GE(before - device::cuda::free_bytes(), std::size_t{64} << 20);
      }
      Stream consumer;
      while (const auto batch = there.next()) batch->hold(consumer.get());
      EXPECT_EQ(gpus::allocations().grown, 1);
      EXPECT_EQ(gpus::allocations().plain, at_start.plain);
    }
    EXPECT_EQ(device::cuda::free_bytes(), before) << "all of it has gone back";
  }
}

TEST_F(DeviceConsumer, MemoryThatIsNotThereIsRefusedAtTheStart) {
  use_device(1);
  LoaderConfig run = config(DecodeOn::cpu);
  run.loader.device_memory_mib = 2000;
  EXPECT_EQ(error_of(ErrorCode::memory, [&] { loader(run); }),
            "loader.device_memory_mib is 2000, which the loader takes when it starts, but 1024 MiB "
            "of the GPU are free. Lower it, leave it out for half of what is free, or end what "
            "else uses the GPU");
}

TEST_F(DeviceConsumer, MemoryBeyondTheBoundIsRefusedWithTheKeysThatMakeItFit) {
  detail::LoaderPlan plan;
  plan.device_index = 1;
  plan.device_limit_bytes = 100 << 20;
  plan.config.loader.device_memory_mib = 100;
  const detail::RingMemory memory(plan);
  memory.budget.named("batches").take(60 << 20);
  const auto take = [&] { memory.budget.named("windows of a batch").take(41 << 20); };
  EXPECT_EQ(error_of(ErrorCode::memory, take),
            "windows of a batch of 41 MiB do not fit: the loader may take 100 MiB of the GPU and "
            "has taken 60. Raise loader.device_memory_mib, or lower loader.prefetch, the batch or "
            "patch.size");
}

/// A GPU without memory pools: the same batches.
TEST_F(DeviceConsumer, WithoutPoolsGivesTheSameBatches) {
  const auto expected = wanted();
  gpus::set_gpus(3, gpus::kGpuBytes, false);
  use_device(1);
  Loader there = loader(config(DecodeOn::gpu));
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    EXPECT_EQ(bytes(there.next()->on_host()), expected[i]);
  }
}

}  // namespace
}  // namespace headrace::loader
