// Batches of tiles from a GPU, with the host in its place, as far as its memory goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "headrace/core/log.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/inference/batch_place.hpp"
#include "learn/inference/tile_feed.hpp"
#include "tests/loader/batch_configs.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::inference {
namespace {

/// Which batches of a feed were made on the GPU; all have the host's bytes.
std::vector<bool> made_on_gpu(const loader::LoaderConfig& config, const std::string& store) {
  const auto cohort = cohort::Cohort::open(store);
  const auto plan = loader::make_tile_plan(*cohort, config, "train");
  const auto preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  loader::Loader host(cohort, on_the_host(config), plan, preprocessing, {.with_labels = true});
  TileFeed feed(cohort, where_the_model_is(config, {.on_gpu = true}), plan, preprocessing,
                {.with_labels = true});
  std::vector<bool> made;
  while (const auto wanted = host.next()) {
    const auto found = feed.next();
    if (!found) {
      ADD_FAILURE() << "a batch is missing";
      return made;
    }
    made.push_back(found->device >= 0);
    const loader::Batch here = found->on_host();
    EXPECT_EQ(here.index, wanted->index);
    EXPECT_EQ(here.images_bytes(), wanted->images_bytes());
    EXPECT_EQ(std::memcmp(here.images, wanted->images, wanted->images_bytes()), 0);
    EXPECT_EQ(std::memcmp(here.labels, wanted->labels, wanted->labels_bytes()), 0);
  }
  EXPECT_FALSE(feed.next());
  return made;
}

TEST(TileFeedOnAGpu, TheHostMakesWhatItsMemoryHasNoRoomFor) {
  const fixtures::TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.images = 2;
  spec.height = 500;
  spec.width = 460;
  spec.levels = 2;
  spec.codec = "zstd";
  fixtures::write_store(folder.path("s.zarr"), spec);
  auto config = loader::LoaderConfig::parse(fixtures::kSlides, "run.yaml");
  config.tiles.batch = 3;
  std::size_t all = 0, none = 0, midway = 0, lines = 0;
  log::set_sink([&](log::Level, const std::string& line) {
    lines += line.find("batches of tiles are made on the CPU from here on: ") == 0;
  });
  for (config.loader.device_memory_mib = 1; all == 0 && config.loader.device_memory_mib < 400;
       config.loader.device_memory_mib += 3) {
    lines = 0;
    const std::vector<bool> made = made_on_gpu(config, folder.path("s.zarr"));
    ASSERT_GT(made.size(), 4u);
    const bool first = made.front(), last = made.back();
    all += last;
    none += !first;
    midway += first && !last;
    EXPECT_EQ(lines, last ? 0u : 1u) << config.loader.device_memory_mib;
    // Once the host has taken over it stays so.
    EXPECT_TRUE(std::is_sorted(made.begin(), made.end(), std::greater<>()));
  }
  log::set_sink({});
  EXPECT_EQ(all, 1u) << "no memory was enough";
  EXPECT_GT(none, 0u) << "any memory was enough";
  EXPECT_GT(midway, 0u) << "what was enough for the first batch was enough for all";
}

}  // namespace
}  // namespace headrace::inference
