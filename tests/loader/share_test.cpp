// Loaders that share batches: together they make the bytes of the one that makes all.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

class ShareTest : public ::testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), {});
    fixtures::write_volume_store(folder_->path("v.zarr"), {});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static LoaderConfig config() {
    const std::string data = folder_->path(GetParam() ? "v.zarr" : "c.zarr");
    return LoaderConfig::parse(
        fmt::format("task: segmentation\ndata: {{store: {}}}\npatch: {}\n"
                    "transforms: [{{affine: {{rotate_deg: [-30, 30]}}}}, {{gaussian_noise: "
                    "{{sigma: [0, 0.05]}}}}]\n"
                    "sampling: {{seed: 3, batch: 6, batches_per_epoch: 2}}\neval: {{batch: 4}}\n"
                    "model: {{widths: [8, 16]}}\nloader: {{threads: 3, prefetch: 2}}\n",
                    data,
                    GetParam() ? "{size: [16, 16, 32], spacing_mm: [2, 1, 1]}"
                               : "{size: [64, 96], mpp: 0.5, context: [1, 2]}"),
        "run.yaml");
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

/// Of sample `s`: its place in the epoch, image and labels.
std::vector<std::byte> bytes_of(const Batch& batch, std::int64_t s) {
  const auto samples = static_cast<std::size_t>(batch.samples), at = static_cast<std::size_t>(s);
  const std::size_t image = batch.images_bytes() / samples, label = batch.labels_bytes() / samples;
  const std::uint64_t index = batch.sites.at(at).index;
  std::vector<std::byte> bytes(sizeof index + image + label);
  std::memcpy(bytes.data(), &index, sizeof index);
  std::memcpy(bytes.data() + sizeof index, static_cast<const std::byte*>(batch.images) + at * image,
              image);
  std::memcpy(bytes.data() + sizeof index + image, batch.labels + at * label, label);
  return bytes;
}

using Samples = std::vector<std::vector<std::byte>>;

Samples samples_of(const std::optional<Batch>& batch) {
  Samples samples;
  for (std::int64_t s = 0; batch && s < batch->samples; ++s) samples.push_back(bytes_of(*batch, s));
  return samples;
}

TEST_P(ShareTest, TogetherAreTheWholeBatch) {
  const LoaderConfig run = config();
  const auto cohort = cohort::Cohort::open(run.data.store);
  const auto plan = make_training_plan(*cohort, run);
  for (const std::int64_t ranks : {1, 2, 3, 6}) {
    Loader whole(cohort, run, plan, true, 0, 1);
    std::vector<std::unique_ptr<Loader>> parts;
    for (std::int64_t r = 0; r < ranks; ++r) {
      const Share share{r * 6 / ranks, 6 / ranks};
      parts.push_back(std::make_unique<Loader>(cohort, run, plan, true, 0, 1, std::nullopt, share));
      EXPECT_EQ(parts.back()->batches_per_epoch(), 2u);
    }
    for (int n = 0; n < 3; ++n) {
      Samples together;
      for (const auto& part : parts) {
        const auto batch = part->next();
        ASSERT_TRUE(batch);
        EXPECT_EQ(batch->samples, 6 / ranks);
        for (auto& sample : samples_of(batch)) together.push_back(std::move(sample));
      }
      ASSERT_EQ(together.size(), 6u);
      EXPECT_TRUE(together == samples_of(whole.next())) << ranks << " ranks, batch " << n;
    }
  }
}

TEST_P(ShareTest, OfTilesTheLastBatchMayEndInsideOfAShare) {
  LoaderConfig run = config();
  const auto cohort = cohort::Cohort::open(run.data.store);
  const auto plan = make_tile_plan(*cohort, run, "val");
  const auto tiles = static_cast<std::int64_t>(plan->samples_per_epoch());
  ASSERT_GE(tiles, 3);
  run.tiles.batch = tiles / 2 + 1;
  Loader whole(cohort, run, plan, true), front(cohort, run, plan, true, 0, 0, std::nullopt, {0, 1}),
      back(cohort, run, plan, true, 0, 0, std::nullopt, {1, 0});
  for (std::uint64_t n = 0; n < whole.batches_per_epoch(); ++n) {
    Samples together = samples_of(front.next());
    for (auto& sample : samples_of(back.next())) together.push_back(std::move(sample));
    EXPECT_TRUE(together == samples_of(whole.next())) << "batch " << n;
  }
  EXPECT_FALSE(front.next());
  EXPECT_FALSE(back.next());
}

TEST_P(ShareTest, LoadersThatTakeTurnsMakeTheSameBatches) {
  LoaderConfig run = config();
  run.tiles.batch = 1;
  const auto cohort = cohort::Cohort::open(run.data.store);
  for (const bool training : {true, false}) {
    const auto plan =
        training ? make_training_plan(*cohort, run) : make_tile_plan(*cohort, run, "val");
    const std::uint64_t first = training ? 1 : 0;  // of 2 batches an epoch
    Loader whole(cohort, run, plan, true, 0, first);
    std::vector<std::unique_ptr<Loader>> turns;
    for (std::int64_t turn = 0; turn < 3; ++turn) {
      turns.push_back(std::make_unique<Loader>(cohort, run, plan, true, 0, first, std::nullopt,
                                               Share{0, 0, turn, 3}));
    }
    const std::uint64_t end = training ? 8 : whole.batches_per_epoch();
    for (std::uint64_t n = first; n < end; ++n) {
      const auto batch = turns[n % 3]->next(), expected = whole.next();
      ASSERT_TRUE(batch && expected);
      EXPECT_EQ(batch->epoch, expected->epoch);
      EXPECT_EQ(batch->index, expected->index);
      EXPECT_TRUE(samples_of(batch) == samples_of(expected)) << "batch " << n;
    }
    if (training) continue;
    for (const auto& loader : turns) EXPECT_FALSE(loader->next());
  }
}

TEST_P(ShareTest, AShareOutsideOfTheBatchIsRefused) {
  const LoaderConfig run = config();
  const auto cohort = cohort::Cohort::open(run.data.store);
  const auto plan = make_training_plan(*cohort, run);
  for (const Share share : {Share{4, 3}, Share{6, 0}, Share{-1, 2}, Share{0, 0, 2, 2}}) {
    EXPECT_THROW(Loader(cohort, run, plan, true, 0, 0, std::nullopt, share), Error);
  }
}

TEST_P(ShareTest, WaitingTellsWhenThereIsAnAnswer) {
  using namespace std::chrono_literals;
  const LoaderConfig run = config();
  const auto cohort = cohort::Cohort::open(run.data.store);
  const auto plan = make_training_plan(*cohort, run);
  Loader patient(cohort, run, plan, true, 0, 0, 3), plain(cohort, run, plan, true, 0, 0, 3);
  for (int n = 0; n < 3; ++n) {
    while (!patient.wait(1ms)) continue;
    EXPECT_TRUE(patient.wait(0ms));
    EXPECT_TRUE(samples_of(patient.next()) == samples_of(plain.next()));
  }
  EXPECT_TRUE(patient.wait(0ms));  // for the end
  EXPECT_FALSE(patient.next());
  EXPECT_GT(patient.stats().data_wait_s, 0);
}

TEST(ShareOf, PartsFollowEachOther) {
  for (const std::int64_t processes : {1, 2, 3, 4, 6}) {
    std::int64_t next = 0;
    for (std::int64_t rank = 0; rank < processes; ++rank) {
      const Share share = share_of(6, rank, processes);
      EXPECT_EQ(share.first, next);
      EXPECT_GE(share.count, 6 / processes);
      EXPECT_LE(share.count, 6 / processes + 1);
      next += share.count;
    }
    EXPECT_EQ(next, 6);
  }
  EXPECT_THROW(share_of(6, 0, 7), Error);
  EXPECT_THROW(share_of(6, 3, 3), Error);
  EXPECT_THROW(share_of(6, -1, 3), Error);
}

/// An error names a sample by its place in the whole batch, whichever loader makes it.
TEST_P(ShareTest, AnErrorIsTheWholeBatchs) {
  const LoaderConfig run = config();
  const std::string damaged = folder_->path(GetParam() ? "damaged-v.zarr" : "damaged-c.zarr");
  std::filesystem::copy(run.data.store, damaged, std::filesystem::copy_options::recursive);
  // No chunk of an image can be read.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(damaged)) {
    if (entry.is_regular_file() && entry.path().filename() != "zarr.json" &&
        entry.path().string().find("/images/") != std::string::npos &&
        entry.path().string().find("/labels/") == std::string::npos)
      std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  const auto cohort = cohort::Cohort::open(damaged);
  const auto plan = make_training_plan(*cohort, run);
  const auto message = [&](Share share) -> std::string {
    Loader loader(cohort, run, plan, true, 0, 0, std::nullopt, share);
    try {
      loader.next();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string whole = message({}), first = message({0, 2});
  EXPECT_EQ(whole, first);
  EXPECT_NE(whole.find("sample 0 "), std::string::npos) << whole;
  EXPECT_NE(message({3, 2}).find("batch 0, sample 3 "), std::string::npos) << message({3, 2});
}

INSTANTIATE_TEST_SUITE_P(SlidesAndVolumes, ShareTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "volumes" : "slides"; });

}  // namespace
}  // namespace headrace::loader
