#include "headrace/loader/loader.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/device/cuda_device.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::StoreSpec;

constexpr const char* kTransforms = R"(
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_um: 5, probability: 0.5}
  - stain_normalize: {}
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
)";

class LoaderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static LoaderConfig config(int threads = 2, int prefetch = 4,
                             const std::string& more = kTransforms) {
    auto config = LoaderConfig::parse(
        "task: segmentation\ndata: {store: c.zarr}\npatch: {size: [64, 96], mpp: 0.5, context: [1, "
        "2]}\n"
        "sampling: {seed: 3, batch: 5, batches_per_epoch: 3}\nmodel: {widths: [8, 16]}\neval: "
        "{batch: 4}\n" +
            more,
        "run.yaml");
    config.loader.threads = threads;
    config.loader.prefetch = prefetch;
    return config;
  }
  static std::unique_ptr<Loader> make(const LoaderConfig& config, std::uint64_t epoch = 0,
                                      std::uint64_t batch = 0) {
    return std::make_unique<Loader>(cohort_, config, make_training_plan(*cohort_, config), true,
                                    epoch, batch);
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline const StoreSpec spec_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

std::string hash_of(const Batch& batch) {
  const auto pixels = static_cast<std::size_t>(batch.samples * batch.height * batch.width);
  Sha256 sha;
  sha.update(std::as_bytes(
      std::span(batch.floats(), pixels * 3 * static_cast<std::size_t>(batch.contexts))));
  if (batch.labels != nullptr) sha.update(std::as_bytes(std::span(batch.labels, pixels)));
  return sha.hex();
}

std::vector<std::string> hashes(Loader& loader, int count) {
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) {
    const auto batch = loader.next();
    if (!batch) break;
    result.push_back(hash_of(*batch));
  }
  return result;
}

TEST_F(LoaderTest, TheSameBytesForAnyThreadsPrefetchAndStart) {
  const auto expected = hashes(*make(config(1, 1)), 8);
  ASSERT_EQ(expected.size(), 8u);
  for (std::size_t i = 1; i < expected.size(); ++i) EXPECT_NE(expected[i], expected[i - 1]);
  for (const int threads : {1, 2, 7, 32}) {
    for (const int prefetch : {1, 8}) {
      EXPECT_EQ(hashes(*make(config(threads, prefetch)), 8), expected)
          << threads << " threads, prefetch " << prefetch;
      // Batch 5 of the run is batch 2 of epoch 1.
      EXPECT_EQ(hashes(*make(config(threads, prefetch), 1, 2), 3),
                (std::vector<std::string>{expected[5], expected[6], expected[7]}))
          << threads << " threads, prefetch " << prefetch << ", from the middle";
    }
  }
}

TEST_F(LoaderTest, BatchesComeInOrderAndGoOnIntoTheNextEpoch) {
  const auto loader = make(config(7, 3));
  EXPECT_EQ(loader->batches_per_epoch(), 3u);
  for (std::uint64_t n = 0; n < 10; ++n) {
    const auto batch = loader->next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->epoch, n / 3);
    EXPECT_EQ(batch->index, n % 3);
    EXPECT_EQ(batch->samples, 5);
    EXPECT_EQ(batch->contexts, 2);
    ASSERT_EQ(batch->sites.size(), 5u);
    EXPECT_EQ(batch->sites[4].index, n % 3 * 5 + 4);
  }
}

TEST_F(LoaderTest, HeldBatchesKeepTheirBytesAndOutliveTheLoader) {
  auto loader = make(config(2, 2));
  std::vector<Batch> held;
  std::vector<std::string> at_first;
  for (int i = 0; i < 6; ++i) {
    held.push_back(*loader->next());
    at_first.push_back(hash_of(held.back()));
  }
  loader.reset();
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(hash_of(held[i]), at_first[i]) << i;
}

TEST_F(LoaderTest, WithoutRandomTransformsATileIsTheStoredPixels) {
  // mpp of the patch is that of level 0, so each output pixel is one stored pixel.
  auto plain =
      config(2, 2, "transforms: [{affine: {rotate_deg: 90}}, {hed_jitter: {sigma: 0.3}}]\n");
  plain.patch.mpp = 0.25;
  plain.patch.context = {1};
  Loader loader(cohort_, plain, make_tile_plan(*cohort_, plain, "val"), true);
  std::uint64_t tiles = 0;
  while (const auto batch = loader.next()) {
    const std::int64_t plane = batch->height * batch->width;
    for (std::int64_t s = 0; s < batch->samples; ++s, ++tiles) {
      const SampleSite& site = batch->sites[static_cast<std::size_t>(s)];
      for (std::int64_t y = 0; y < batch->height; ++y) {
        for (std::int64_t x = 0; x < batch->width; ++x) {
          const auto rgb =
              fixtures::fixture_pixel(spec_, 2, site.tile_yx[0] + y, site.tile_yx[1] + x);
          const std::int64_t at = y * batch->width + x;
          for (std::int64_t c = 0; c < 3; ++c) {
            ASSERT_NEAR(batch->floats()[(s * 3 + c) * plane + at] * 255,
                        rgb[static_cast<std::size_t>(c)], 0.01)
                << "tile " << tiles << " at " << y << ", " << x;
          }
          ASSERT_EQ(batch->labels[s * plane + at],
                    fixtures::fixture_label(spec_, 2, site.tile_yx[0] + y, site.tile_yx[1] + x));
        }
      }
    }
  }
  EXPECT_EQ(tiles, make_tile_plan(*cohort_, plain, "val")->samples_per_epoch());
}

TEST_F(LoaderTest, ATilePlanEndsAfterItsEpochWithAShorterBatch) {
  auto settings = config();
  settings.tiles.overlap = 0.25;
  const auto plan = make_tile_plan(*cohort_, settings, "val");
  const std::uint64_t tiles = plan->samples_per_epoch();
  ASSERT_NE(tiles % 4, 0u) << "the fixture must leave a rest";
  Loader loader(cohort_, settings, plan, true);
  std::int64_t seen = 0, last = 0;
  while (const auto batch = loader.next()) {
    for (const SampleSite& site : batch->sites)
      EXPECT_EQ(site.index, static_cast<std::uint64_t>(seen++));
    last = batch->samples;
  }
  EXPECT_EQ(seen, static_cast<std::int64_t>(tiles));
  EXPECT_EQ(last, static_cast<std::int64_t>(tiles % 4));
  EXPECT_FALSE(loader.next()) << "stays at its end";
}

TEST_F(LoaderTest, ImagesWithoutTheLabelsReadAsIgnore) {
  auto other = config();
  other.data.labels = "nuclei";
  other.sampling.balance = Balance::tissue;  // of classes nothing is known without them
  Loader loader(cohort_, other, make_training_plan(*cohort_, other), true);
  const auto batch = loader.next();
  for (std::int64_t i = 0; i < batch->samples * batch->height * batch->width; ++i)
    ASSERT_EQ(batch->labels[i], 255);
}

TEST_F(LoaderTest, ShutsDownAtAnyMoment) {
  for (int batches = 0; batches < 6; ++batches) {
    for (const int threads : {1, 3}) {
      const auto loader = make(config(threads, 2));
      hashes(*loader, batches);
      std::this_thread::sleep_for(std::chrono::microseconds(700 * batches));
    }
  }
}

TEST_F(LoaderTest, AtMostPrefetchBatchesAreMadeAhead) {
  const auto loader = make(config(2, 2));
  loader->next();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const StallStats before = loader->stats();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const StallStats after = loader->stats();
  EXPECT_EQ(before.bytes_read, after.bytes_read) << "the ring is full, nothing is read";
  EXPECT_EQ(before.transform_s, after.transform_s);
  loader->next();
  loader->next();
  EXPECT_GT(loader->stats().model_wait_s, 0.05) << "the loader waited for the consumer";
}

TEST_F(LoaderTest, StatsAddUp) {
  const auto loader = make(config(1, 1));
  hashes(*loader, 4);
  const StallStats stats = loader->stats();
  EXPECT_EQ(stats.batches, 4u);
  EXPECT_EQ(stats.samples, 20u);
  EXPECT_GT(stats.bytes_read, 0u);
  EXPECT_GT(stats.transform_s, 0);
  EXPECT_GT(stats.decode_s, 0);
  EXPECT_GE(stats.wall_s, stats.data_wait_s);
  EXPECT_GT(stats.stall_fraction(), 0);
  EXPECT_LE(stats.stall_fraction(), 1);
}

TEST_F(LoaderTest, RefusesAnotherDataset) {
  auto pinned = config();
  pinned.data.expect_hash = std::string(64, 'a');
  EXPECT_THROW(make(pinned), Error);
  pinned.data.expect_hash = cohort_->dataset_hash();
  EXPECT_TRUE(make(pinned)->next());
}

TEST_F(LoaderTest, RefusesAGpuThatIsNotThere) {
  if (device::cuda::cuda_available()) GTEST_SKIP() << "not run: there is a GPU";
  auto cuda = config();
  cuda.loader.device = device::DeviceChoice::cuda;
  try {
    make(cuda);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

TEST(Loader, ADamagedChunkFailsItsBatchWithTheLowestSampleForAnyThreads) {
  const fixtures::TemporaryFolder folder;
  StoreSpec spec;
  spec.images = 2;
  spec.height = spec.width = 400;
  spec.splits = {"train"};
  fixtures::write_store(folder.path("c.zarr"), spec);
  // Flip bytes in the middle of every shard of one image: its chunks no longer decode.
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path("c.zarr/images/slide-001/1/c"))) {
    if (!entry.is_regular_file()) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(entry.path());
    for (std::uint64_t at = 0; at + 300 < size; at += 97) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put('\x5a');
    }
  }
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  std::string expected;
  for (const int threads : {1, 2, 7}) {
    auto config = LoaderConfig::parse(
        "task: segmentation\ndata: {store: x}\npatch: {size: [64, 64], mpp: 0.5}\nsampling: "
        "{batch: 6, foreground: 1}\n",
        "run.yaml");
    config.loader.threads = threads;
    Loader loader(cohort, config, make_training_plan(*cohort, config), true);
    std::string text;
    try {
      for (int i = 0; i < 20; ++i) loader.next();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt);
      text = error.what();
    }
    EXPECT_NE(text.find("(image slide-001)"), std::string::npos) << text;
    if (expected.empty()) expected = text;
    EXPECT_EQ(text, expected) << threads << " threads";
    EXPECT_THROW(loader.next(), Error) << "nothing is delivered behind a failure";
  }
}

}  // namespace
}  // namespace headrace::loader
