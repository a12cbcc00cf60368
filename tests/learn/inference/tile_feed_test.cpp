#include "learn/inference/tile_feed.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "headrace/core/log.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/inference/batch_place.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::inference {
namespace {

/// What a GPU that is not there was asked for, the host makes; a sentence says so.
TEST(TileFeed, GoesOnWithTheHostsBatchesWhereTheGpuHasNone) {
  if (device::cuda::cuda_available()) GTEST_SKIP() << "this machine has a GPU";
  const fixtures::TemporaryFolder folder;
  fixtures::write_store(folder.path("c.zarr"), {});
  auto config = loader::LoaderConfig::parse(
      "task: segmentation\ndata: {store: " + folder.path("c.zarr") +
          "}\npatch: {size: [64, 96], mpp: 0.5}\nmodel: {widths: [8, 16]}\n"
          "loader: {threads: 2}\neval: {batch: 2}\n",
      "run.yaml");
  const auto cohort = cohort::Cohort::open(config.data.store);
  const auto plan = loader::make_tile_plan(*cohort, config, "train");
  const auto preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  std::vector<std::string> lines;
  log::set_sink([&](log::Level, const std::string& line) { lines.push_back(line); });
  TileFeed feed(cohort, where_the_model_is(config, {.on_gpu = true}), plan, preprocessing,
                {.with_labels = true});
  log::set_sink({});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("made on the CPU from here on: loader.device is 'cuda', but"),
            std::string::npos)
      << lines[0];
  loader::Loader host(cohort, on_the_host(config), plan, preprocessing, {.with_labels = true});
  EXPECT_EQ(feed.batches_per_epoch(), host.batches_per_epoch());
  std::size_t count = 0;
  while (const auto wanted = host.next()) {
    const auto found = feed.next();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->index, wanted->index);
    EXPECT_EQ(std::memcmp(found->images, wanted->images, wanted->images_bytes()), 0);
    EXPECT_EQ(std::memcmp(found->labels, wanted->labels, wanted->labels_bytes()), 0);
    ++count;
  }
  EXPECT_GT(count, 2u);
  EXPECT_FALSE(feed.next());
}

}  // namespace
}  // namespace headrace::inference
