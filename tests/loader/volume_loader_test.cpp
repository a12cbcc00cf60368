#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::VolumeSpec;

constexpr const char* kTransforms = R"(
transforms:
  - affine: {rotate_deg: [-30, 30], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_mm: 4, probability: 0.5}
  - window_hu: {low: -160, high: 240}
  - gamma: {gamma: [0.7, 1.5], probability: 0.5}
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.5}
)";

class VolumeLoaderTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_volume_store(folder_->path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static LoaderConfig config(int threads = 2, int prefetch = 3,
                             const std::string& more = kTransforms,
                             const std::string& spacing = "[2, 1, 1]") {
    auto config = LoaderConfig::parse(
        "task: segmentation\ndata: {store: c.zarr}\npatch: {size: [16, 24, 32], spacing_mm: " +
            spacing +
            "}\nsampling: {seed: 3, batch: 3, batches_per_epoch: 3}\nmodel: {widths: [8, 16]}\n"
            "eval: {batch: 4}\n" +
            more,
        "run.yaml");
    config.loader.threads = threads;
    config.loader.prefetch = prefetch;
    return config;
  }
  static std::unique_ptr<Loader> make(const LoaderConfig& config, std::uint64_t epoch = 0,
                                      std::uint64_t batch = 0, bool with_labels = true) {
    return std::make_unique<Loader>(cohort_, config, make_training_plan(*cohort_, config),
                                    with_labels, epoch, batch);
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline const VolumeSpec spec_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

std::string hash_of(const Batch& batch) {
  const auto voxels =
      static_cast<std::size_t>(batch.samples * batch.depth * batch.height * batch.width);
  Sha256 sha;
  sha.update(std::as_bytes(std::span(batch.floats(), voxels)));
  if (batch.labels != nullptr) sha.update(std::as_bytes(std::span(batch.labels, voxels)));
  return sha.hex();
}

std::vector<std::string> hashes(Loader& loader, int count) {
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) result.push_back(hash_of(*loader.next()));
  return result;
}

TEST_F(VolumeLoaderTest, TheSameBytesForAnyThreadsPrefetchAndStart) {
  const auto expected = hashes(*make(config(1, 1)), 8);
  for (std::size_t i = 1; i < expected.size(); ++i) EXPECT_NE(expected[i], expected[i - 1]);
  for (const int threads : {1, 2, 7}) {
    for (const int prefetch : {1, 6}) {
      EXPECT_EQ(hashes(*make(config(threads, prefetch)), 8), expected)
          << threads << " threads, prefetch " << prefetch;
      // Batch 5 of the run is batch 2 of epoch 1.
      EXPECT_EQ(hashes(*make(config(threads, prefetch), 1, 2), 3),
                (std::vector<std::string>{expected[5], expected[6], expected[7]}))
          << threads << " threads, prefetch " << prefetch << ", from the middle";
    }
  }
}

TEST_F(VolumeLoaderTest, BatchesSayTheirShape) {
  const auto batch = make(config())->next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->samples, 3);
  EXPECT_EQ(batch->contexts, 1);
  EXPECT_EQ(batch->channels, 1);
  EXPECT_EQ(batch->depth, 16);
  EXPECT_EQ(batch->height, 24);
  EXPECT_EQ(batch->width, 32);
  EXPECT_EQ(batch->sites.size(), 3u);
  EXPECT_NE(batch->labels, nullptr);
  EXPECT_EQ(make(config(), 0, 0, false)->next()->labels, nullptr);
}

TEST_F(VolumeLoaderTest, WithoutRandomTransformsATileInVoxelsOfLevelZeroIsTheStoredOne) {
  const auto plain = config(2, 2, "transforms: [{affine: {rotate_deg: 90}}]\n", "null");
  Loader loader(cohort_, plain, make_tile_plan(*cohort_, plain, "val"), true);
  std::uint64_t tiles = 0;
  while (const auto batch = loader.next()) {
    const float* image = batch->floats();
    const std::uint8_t* label = batch->labels;
    for (const SampleSite& site : batch->sites) {
      ++tiles;
      for (std::int64_t z = site.tile_z; z < site.tile_z + 16; ++z) {
        for (std::int64_t y = site.tile_yx[0]; y < site.tile_yx[0] + 24; ++y) {
          for (std::int64_t x = site.tile_yx[1]; x < site.tile_yx[1] + 32; ++x) {
            ASSERT_NEAR(*image++, fixtures::fixture_hu(spec_, 2, z, y, x), 1e-3)
                << "tile " << tiles << " at " << z << ", " << y << ", " << x;
            ASSERT_EQ(*label++, fixtures::fixture_volume_label(spec_, 2, z, y, x));
          }
        }
      }
    }
  }
  EXPECT_EQ(tiles, make_tile_plan(*cohort_, plain, "val")->samples_per_epoch());
}

TEST_F(VolumeLoaderTest, AResampledTileIsTheTrilinearOne) {
  // 1.6 mm in the plane is read from level 1, z from 2.5 to 1.25 mm.
  const auto plain = config(2, 2, "", "[1.25, 1.6, 1.6]");
  const auto& image = cohort_->images()[2];
  ASSERT_EQ(choose_volume_level(image, plain), 1u);
  const auto& shape = image.volume->levels[1].shape_zyx;
  std::vector<std::int16_t> hu(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  cohort_->image_array(2, 1)->read({{0, 0, 0},
                                    {shape[0], shape[1], shape[2]},
                                    reinterpret_cast<std::byte*>(hu.data()),
                                    {shape[1] * shape[2] * 2, shape[2] * 2, 2},
                                    {}});
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) -> double {
    return hu[static_cast<std::size_t>(
        (std::clamp<std::int64_t>(z, 0, shape[0] - 1) * shape[1] + y) * shape[2] + x)];
  };
  Loader loader(cohort_, plain, make_tile_plan(*cohort_, plain, "val"), true);
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  const SampleSite& site = batch->sites[0];
  double worst = 0;
  for (std::int64_t z = 0; z < 16; ++z) {
    const double from = (static_cast<double>(site.tile_z + z) + 0.5) * 0.5 - 0.5;
    const auto z0 = static_cast<std::int64_t>(std::floor(from));
    const double part = from - static_cast<double>(z0);
    for (std::int64_t y = 0; y < 24; ++y) {
      for (std::int64_t x = 0; x < 32; ++x) {
        const std::int64_t ly = site.tile_yx[0] + y, lx = site.tile_yx[1] + x;
        const double expected = at(z0, ly, lx) * (1 - part) + at(z0 + 1, ly, lx) * part;
        worst = std::max(worst, std::abs(expected - batch->floats()[(z * 24 + y) * 32 + x]));
      }
    }
  }
  EXPECT_LT(worst, 0.1) << "HU";
}

/// Every chunk that a sample's bytes depend on is read: what the whole window gives is the same.
TEST_F(VolumeLoaderTest, ChunksThatATurnedPatchDoesNotReachDoNotMatter) {
  const char* turned = R"(
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.5, 2], shear_deg: [-20, 20], translate: 0.2, flip: true}
  - elastic: {grid: 3, magnitude_mm: 6, probability: 0.5}
)";
  for (const std::string spacing : {"[2, 1, 1]", "[4, 2.5, 2.5]", "null"}) {
    auto settings = config(2, 3, turned, spacing);
    settings.sampling.keep_inside = false;
    const auto graph =
        transform::VolumeGraph::compile(settings.volume_transforms, settings.volume_patch);
    const auto loader = make(settings);
    for (int b = 0; b < 16; ++b) {
      const auto batch = loader->next();
      const std::size_t voxels = 16 * 24 * 32;
      for (std::size_t s = 0; s < 3; ++s) {
        const SampleSite& site = batch->sites[s];
        const auto& image = cohort_->images()[site.image];
        const std::size_t k = choose_volume_level(image, settings);
        const auto& level = image.volume->levels[k];
        const auto params = graph.draw({3, batch->epoch, site.index}, image.volume->body, true);
        transform::VolumeGeometry geometry;
        graph.locate(*params,
                     {site.centre_level0_z / level.downsample_zyx[0],
                      site.centre_level0_yx[0] / level.downsample_zyx[1],
                      site.centre_level0_yx[1] / level.downsample_zyx[2]},
                     level_spacing_mm_zyx(image, k, settings), geometry);
        const auto& size = geometry.window.size_zyx;
        const auto& origin = geometry.window.origin_zyx;
        Box3 extent;
        for (std::size_t a = 0; a < 3; ++a) {
          extent.origin_zyx[a] = std::clamp<std::int64_t>(-origin[a], 0, size[a]);
          extent.size_zyx[a] = std::clamp<std::int64_t>(level.shape_zyx[a] - origin[a],
                                                        extent.origin_zyx[a], size[a]) -
                               extent.origin_zyx[a];
        }
        const auto all = static_cast<std::size_t>(geometry.window.voxels());
        device::HostBuffer hu(all * 2), label(all);
        const std::vector<std::int64_t> from(origin.begin(), origin.end()),
            shape(size.begin(), size.end());
        const std::int64_t row = size[2], slice = size[1] * size[2];
        cohort_->image_array(site.image, k)
            ->read({from, shape, hu.data(), {slice * 2, row * 2, 2}, {}});
        cohort_->label_array(site.image, "annotation", k)
            ->read({from, shape, label.data(), {slice, row, 1}, {}});
        const std::array<std::int32_t, 3> edges{static_cast<std::int32_t>(size[0]),
                                                static_cast<std::int32_t>(size[1]),
                                                static_cast<std::int32_t>(size[2])};
        std::vector<float> values(voxels);
        std::vector<std::uint8_t> classes(voxels);
        transform::VolumeScratch scratch;
        graph.run(*params, geometry, {hu.as<std::int16_t>(), edges, row, slice},
                  {label.as<std::uint8_t>(), edges, row, slice}, extent, 255, values.data(),
                  classes.data(), scratch);
        ASSERT_EQ(0, std::memcmp(values.data(), batch->floats() + s * voxels, voxels * 4))
            << spacing << ", batch " << b << ", sample " << s;
        ASSERT_EQ(0, std::memcmp(classes.data(), batch->labels + s * voxels, voxels))
            << spacing << ", batch " << b << ", sample " << s;
      }
    }
  }
}

TEST_F(VolumeLoaderTest, ATileLargerThanTheVolumeIsIgnoreOutside) {
  auto large = config(2, 2, "", "null");
  large.volume_patch.size_zyx = {64, 160, 160};
  Loader loader(cohort_, large, make_tile_plan(*cohort_, large, "val"), true);
  const auto batch = loader.next();
  ASSERT_EQ(batch->samples, 1);
  for (std::int64_t z = 0; z < 64; ++z) {
    for (std::int64_t y = 0; y < 160; ++y) {
      for (std::int64_t x = 0; x < 160; ++x) {
        const std::int64_t v = (z * 160 + y) * 160 + x;
        const bool inside =
            z < spec_.shape_zyx[0] && y < spec_.shape_zyx[1] && x < spec_.shape_zyx[2];
        ASSERT_EQ(batch->labels[v],
                  inside ? fixtures::fixture_volume_label(spec_, 2, z, y, x) : 255);
        if (inside) continue;
        ASSERT_NEAR(batch->floats()[v], -1000, 400) << "the nearest voxel inside";
      }
    }
  }
}

TEST_F(VolumeLoaderTest, ForegroundNormalisationUsesTheTrainingSetsHistograms) {
  const auto settings = config(1, 1, "transforms: [{normalize: {method: foreground}}]\n");
  const auto batch = make(settings)->next();
  double sum = 0;
  std::uint64_t voxels = 0;
  for (std::int64_t i = 0; i < batch->samples * 16 * 24 * 32; ++i) {
    if (batch->labels[i] != 1 && batch->labels[i] != 2) continue;
    ASSERT_LT(std::abs(batch->floats()[i]), 4);
    sum += batch->floats()[i];
    ++voxels;
  }
  ASSERT_GT(voxels, 1000u);
  EXPECT_LT(std::abs(sum / static_cast<double>(voxels)), 0.5);
}

TEST_F(VolumeLoaderTest, ImagesWithoutTheLabelsReadAsIgnore) {
  auto other = config();
  other.data.labels = "organs";
  other.sampling.balance = Balance::body;  // of classes nothing is known without them
  const auto batch = make(other)->next();
  for (std::int64_t i = 0; i < batch->samples * 16 * 24 * 32; ++i) ASSERT_EQ(batch->labels[i], 255);
}

TEST(VolumeLoader, ADamagedChunkFailsItsBatchWithTheSameErrorForAnyThreads) {
  const fixtures::TemporaryFolder folder;
  VolumeSpec spec;
  spec.images = 2;
  spec.splits = {"train"};
  fixtures::write_volume_store(folder.path("c.zarr"), spec);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder.path("c.zarr/images/scan-001/0/c"))) {
    if (!entry.is_regular_file()) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto size = std::filesystem::file_size(entry.path());
    for (std::uint64_t at = 0; at + 2000 < size; at += 97) {
      file.seekp(static_cast<std::streamoff>(at));
      file.put('\x5a');
    }
  }
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  std::string expected;
  for (const int threads : {1, 2, 7}) {
    auto config = LoaderConfig::parse(
        "task: segmentation\ndata: {store: x}\npatch: {size: [16, 32, 32], spacing_mm: null}\n"
        "model: {widths: [8, 16]}\nsampling: {batch: 4, foreground: 1}\n",
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
    EXPECT_NE(text.find("(image scan-001)"), std::string::npos) << text;
    if (expected.empty()) expected = text;
    EXPECT_EQ(text, expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace headrace::loader
