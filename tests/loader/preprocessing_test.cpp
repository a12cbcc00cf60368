#include "headrace/loader/plan/preprocessing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::TemporaryFolder;

LoaderConfig slides(const std::string& store) {
  return LoaderConfig::parse("task: segmentation\ndata: {store: " + store +
                                 "}\npatch: {size: [64, 64], mpp: 0.5}\n"
                                 "sampling: {seed: 3, batch: 4, batches_per_epoch: 2}\n"
                                 "transforms:\n"
                                 "  - stain_normalize: {method: macenko, reference: slide-001}\n"
                                 "  - scanner_color: {}\n"
                                 "loader: {threads: 2}\neval: {batch: 4}\n",
                             "run.yaml");
}

LoaderConfig volumes(const std::string& store) {
  return LoaderConfig::parse("task: segmentation\ndata: {store: " + store +
                                 "}\npatch: {size: [16, 32, 32], spacing_mm: [2.5, 1.6, 1.6]}\n"
                                 "sampling: {seed: 3, batch: 2, batches_per_epoch: 2}\n"
                                 "transforms:\n  - clip_percentiles: {of: foreground}\n"
                                 "  - normalize: {method: foreground}\nloader: {threads: 2}\n",
                             "run.yaml");
}

std::string refusal(const Json& json) {
  try {
    Preprocessing::parse(json, "preprocessing.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Preprocessing, KnowsTheClassesThatAreAnnotatedBeyondTheBody) {
  const TemporaryFolder folder;
  const auto fitted = [&](const std::string& name, auto label) {
    fixtures::VolumeSpec spec;
    spec.label = label;
    fixtures::write_volume_store(folder.path(name), spec);
    return Preprocessing::fit(*cohort::Cohort::open(folder.path(name)), volumes(folder.path(name)));
  };
  const fixtures::VolumeSpec plain;
  const auto inside = [&](int i, std::int64_t z, std::int64_t y, std::int64_t x) {
    return fixtures::fixture_volume_label(plain, i, z, y, x);
  };
  EXPECT_FALSE(fitted("in.zarr", inside).to_json().contains("outside_body"));
  // One voxel in a corner of a training image, which is air; the validation image does not count.
  const auto corner = [&](int image) {
    return [=](int i, std::int64_t z, std::int64_t y, std::int64_t x) {
      return i == image && z + y + x == 0 ? std::uint8_t{2} : inside(i, z, y, x);
    };
  };
  const Preprocessing out = fitted("out.zarr", corner(1));
  EXPECT_EQ(out.outside_body, std::vector<std::string>{"lesion"});
  EXPECT_EQ(Preprocessing::parse(out.to_json(), "a").outside_body, out.outside_body);
  EXPECT_TRUE(fitted("val.zarr", corner(2)).outside_body.empty());
  // Then windows cover the whole volume.
  EXPECT_EQ(beyond_body(out), Beyond::whole_volume);
  const auto run = volumes(folder.path("out.zarr"));
  const auto cohort = cohort::Cohort::open(folder.path("out.zarr"));
  EXPECT_GT(make_tile_plan(*cohort, run, "val", Beyond::whole_volume)->samples_per_epoch(),
            make_tile_plan(*cohort, run, "val")->samples_per_epoch());
}

TEST(Preprocessing, KnowsImagesThatTrainingEnlarged) {
  const TemporaryFolder folder;
  fixtures::write_volume_store(folder.path("c.zarr"), {});  // 2.5 × 0.8 × 0.8 mm
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  auto run = volumes(folder.path("c.zarr"));
  EXPECT_FALSE(Preprocessing::fit(*cohort, run).to_json().contains("enlarged"));
  run.volume_patch.spacing_mm_zyx = {1, 0.8, 0.8};
  const Preprocessing fitted = Preprocessing::fit(*cohort, run);
  EXPECT_DOUBLE_EQ(fitted.enlarged, 2.5);
  EXPECT_DOUBLE_EQ(Preprocessing::parse(fitted.to_json(), "a").enlarged, 2.5);
}

TEST(Preprocessing, ScannersAreFittedOnTheTrainingSplitAlone) {
  const TemporaryFolder folder;
  fixtures::write_store(folder.path("c.zarr"),
                        {});  // slide-000 of east and -001 of west train, -002 does not
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  const auto fitted = Preprocessing::fit(*cohort, slides(folder.path("c.zarr")));
  ASSERT_EQ(fitted.scanners.size(), 2u);
  EXPECT_EQ(fitted.scanners.at("east-scanner").pixels, 1000u);
  EXPECT_EQ(fitted.od.pixels, 2001u);
  // The fixture's sums: means 1638 and 1720 of 8192, both with spread 1024.
  EXPECT_DOUBLE_EQ(fitted.scanners.at("west-scanner").mean[0], 1720.0 / 8192);
  EXPECT_NEAR(fitted.scanners.at("west-scanner").std[0], 0.125, 1e-12);
  const double mean = (1000 * 1638.0 + 1001 * 1720.0) / 2001;
  EXPECT_NEAR(fitted.od.mean[0], mean / 8192, 1e-12);
  const double between = 1000.0 / 2001 * 1001 / 2001 * 82 * 82;
  EXPECT_NEAR(fitted.od.std[0], std::sqrt(1024.0 * 1024 + between) / 8192, 1e-9);
  EXPECT_EQ(fitted.stain_reference->name, "slide-001");
}

TEST(Preprocessing, ASlideOfAnUnknownScannerHasItsOwnColours) {
  const TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.cohorts = {"east", "east", "north"};
  fixtures::write_store(folder.path("c.zarr"), spec);
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  const auto fitted = Preprocessing::fit(*cohort, slides(folder.path("c.zarr")));
  EXPECT_EQ(unknown_scanners(fitted, *cohort, "val"), std::vector<std::string>{"north-scanner"});
  const ImageColour colour = fitted.colour_of(cohort->images()[2]);
  EXPECT_DOUBLE_EQ(colour.scanner_od_mean[0], 1802.0 / 8192);
  EXPECT_EQ(colour.cohort_od_mean, fitted.od.mean);
  EXPECT_TRUE(colour.has_scanner);
}

TEST(Preprocessing, WrittenAndReadItIsTheSameToTheLastBit) {
  const TemporaryFolder folder;
  fixtures::write_store(folder.path("s.zarr"), {});
  fixtures::write_volume_store(folder.path("v.zarr"), {});
  for (const bool of_volumes : {false, true}) {
    const std::string store = folder.path(of_volumes ? "v.zarr" : "s.zarr");
    const auto fitted = Preprocessing::fit(*cohort::Cohort::open(store),
                                           of_volumes ? volumes(store) : slides(store));
    const auto read = Preprocessing::parse(parse_json(dump_json(fitted.to_json()), "p"), "p");
    EXPECT_EQ(read.classes, fitted.classes);
    EXPECT_EQ(read.orientation, of_volumes ? "LPS" : "");
    EXPECT_EQ(read.stain_reference, fitted.stain_reference);
    EXPECT_EQ(read.od, fitted.od);
    EXPECT_EQ(read.scanners, fitted.scanners);
    EXPECT_EQ(read.foreground.voxels > 0, of_volumes);
    EXPECT_EQ(read.foreground.mean, fitted.foreground.mean);
    EXPECT_EQ(read.foreground.std, fitted.foreground.std);
    EXPECT_EQ(read.foreground.low, fitted.foreground.low);
    EXPECT_EQ(read.foreground.high, fitted.foreground.high);
  }
}

TEST(Preprocessing, ChannelsAreWrittenReadAndCounted) {
  Preprocessing of_two;
  of_two.orientation = "LPS";
  of_two.channels = {{"arterial", {7, 1.0 / 3, 2, -5, 6.25}}, {"portal-venous", {}}};
  const auto read = Preprocessing::parse(parse_json(dump_json(of_two.to_json()), "p"), "p");
  EXPECT_EQ(read.to_json(), of_two.to_json());
  ASSERT_EQ(read.channels.size(), 2u);
  EXPECT_EQ(read.channels[0].foreground.mean, 1.0 / 3);
  EXPECT_EQ(read.channels[1].foreground.voxels, 0u);
  LoaderConfig config;
  EXPECT_EQ(channel_count(read, config), 3);  // slides
  config.volumes = true;
  EXPECT_EQ(channel_count(read, config), 2);
  EXPECT_EQ(channel_count(Preprocessing{}, config), 1);
  EXPECT_FALSE(Preprocessing{}.to_json().contains("channels"));
  Json nameless = of_two.to_json();
  nameless["channels"][1].erase("name");
  EXPECT_NE(refusal(nameless).find("'name' is missing"), std::string::npos);
}

TEST(Preprocessing, ReadingIsStrict) {
  const TemporaryFolder folder;
  fixtures::write_store(folder.path("c.zarr"), {});
  const Json good = Preprocessing::fit(*cohort::Cohort::open(folder.path("c.zarr")),
                                       slides(folder.path("c.zarr")))
                        .to_json();
  EXPECT_EQ(refusal(good), "accepted");
  for (const auto& [key, value] : good.items()) {
    Json without = good;
    without.erase(key);
    EXPECT_NE(refusal(without).find("'" + key + "' is missing"), std::string::npos) << key;
  }
  Json more = good;
  more["mean"] = 1;
  EXPECT_NE(refusal(more).find("'mean' does not belong"), std::string::npos);
  Json other = good;
  other["format"] = 2;
  EXPECT_NE(refusal(other).find("format 2"), std::string::npos);
  other = good;
  other["tissue"]["od_mean"] = "red";
  EXPECT_NE(refusal(other).find("od_mean"), std::string::npos);
  other = good;
  other["orientation"] = "RAS";
  EXPECT_NE(refusal(other).find("RAS"), std::string::npos);
}

/// Every byte of the tiles of a split.
std::pair<std::vector<float>, std::vector<std::uint8_t>> tiles(
    const std::shared_ptr<const cohort::Cohort>& cohort, const LoaderConfig& config,
    const std::string& split, std::shared_ptr<const Preprocessing> preprocessing) {
  Loader loader(cohort, config, make_tile_plan(*cohort, config, split), std::move(preprocessing),
                {.with_labels = true});
  std::pair<std::vector<float>, std::vector<std::uint8_t>> out;
  while (const auto batch = loader.next()) {
    const auto values = batch->images_bytes() / sizeof(float);
    out.first.insert(out.first.end(), batch->floats(), batch->floats() + values);
    out.second.insert(out.second.end(), batch->labels, batch->labels + batch->labels_bytes());
  }
  return out;
}

TEST(Preprocessing, ClassesInAnotherOrderAreTheRunsClassesInItsBatches) {
  const TemporaryFolder folder;
  fixtures::StoreSpec spec;
  fixtures::write_store(folder.path("a.zarr"), spec);
  spec.classes = {"background", "tumour", "fold"};
  fixtures::write_store(folder.path("b.zarr"), spec);
  const LoaderConfig config = slides(folder.path("a.zarr"));
  const auto own = cohort::Cohort::open(folder.path("a.zarr"));
  const auto run = std::make_shared<const Preprocessing>(Preprocessing::fit(*own, config));
  const auto other = cohort::Cohort::open(folder.path("b.zarr"))->seen_by(run->classes);
  const auto first = tiles(own, config, "val", run), second = tiles(other, config, "val", run);
  EXPECT_EQ(first.first, second.first);
  ASSERT_EQ(first.second.size(), second.second.size());
  std::array<std::uint64_t, 256> seen{};
  for (std::size_t i = 0; i < first.second.size(); ++i) {
    // Stored 1 is "tumour" there, the run's 2; stored 2 is "fold", which it does not know.
    const std::uint8_t stored = first.second[i];
    ASSERT_EQ(second.second[i], stored == 1 ? 2 : stored == 2 ? 255 : stored);
    ++seen[stored];
  }
  EXPECT_GT(seen[1], 0u);
  EXPECT_GT(seen[2], 0u);
}

TEST(Preprocessing, SamplesOfAStoreWithOtherClassesAimAtTheRunsClasses) {
  const TemporaryFolder folder;
  fixtures::StoreSpec spec;
  fixtures::write_store(folder.path("a.zarr"), spec);
  spec.classes = {"background", "tumour", "benign"};
  fixtures::write_store(folder.path("b.zarr"), spec);
  LoaderConfig config = slides(folder.path("a.zarr"));
  config.sampling.foreground = 1;
  const auto own = cohort::Cohort::open(folder.path("a.zarr"));
  const auto run = std::make_shared<const Preprocessing>(Preprocessing::fit(*own, config));
  const auto other = cohort::Cohort::open(folder.path("b.zarr"))->seen_by(run->classes);
  Loader loader(other, config, make_training_plan(*other, config), run,
                {.with_labels = true, .count = 25});
  std::array<int, 3> aimed{};
  while (const auto batch = loader.next()) {
    const auto pixels = static_cast<std::ptrdiff_t>(batch->labels_bytes() / batch->sites.size());
    const std::uint8_t* labels = batch->labels;
    for (const SampleSite& site : batch->sites) {
      ASSERT_GT(site.drawn_class, 0);
      EXPECT_NE(std::find(labels, labels + pixels, site.drawn_class), labels + pixels);
      // The tissue's left part, stored 1, is "tumour" there: the run's 2.
      const auto [y, x] = site.centre_level0_yx;
      if (x < 400) {
        EXPECT_EQ(site.drawn_class, 2) << y << ", " << x;
      }
      ++aimed[static_cast<std::size_t>(site.drawn_class)];
      labels += pixels;
    }
  }
  EXPECT_GT(aimed[1], 0);
  EXPECT_GT(aimed[2], 0);
}

}  // namespace
}  // namespace headrace::loader
