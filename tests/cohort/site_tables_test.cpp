/// The sampler's sites as an open store gives them, against plain counts, and spoilt ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/error.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::cohort {
namespace {

using fixtures::TemporaryFolder;

class SiteTables : public ::testing::Test {
 protected:
  SiteTables() {
    spec_.images = 1;
    spec_.shape_zyx = {20, 40, 50};
    spec_.label = [](int, std::int64_t z, std::int64_t y, std::int64_t x) {
      if (z < 6 && y < 6 && x < 6) return std::uint8_t{2};
      return static_cast<std::uint8_t>(z > 14 && x > 30 ? 2 : y > 30 ? 1 : 0);
    };
    fixtures::write_volume_store(path_, spec_);
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::ifstream in(path_ + "/" + file);
    std::string all((std::istreambuf_iterator<char>(in)), {});
    const auto at = all.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    all.replace(at, from.size(), to);
    std::ofstream(path_ + "/" + file) << all;
  }
  std::string refusal() const {
    try {
      const auto cohort = Cohort::open(path_);
      cohort->tissue_sites(0);
      cohort->label_sites(0, "annotation");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::malformed);
      return error.what();
    }
    return "accepted";
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("c.zarr");
  fixtures::VolumeSpec spec_;
};

TEST_F(SiteTables, HaveEveryVoxelOfEachRegionOnce) {
  const SiteIndex sites = Cohort::open(path_)->label_sites(0, "annotation");
  EXPECT_EQ(sites.grid, (PartGrid{{16, 16, 16}, {1, 4, 4}}));
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> voxels;
  for (const SiteBlock& block : sites.blocks)
    voxels[{block.class_value, block.region}] += block.pixels;
  EXPECT_EQ(
      voxels,
      (std::map<std::pair<int, std::uint32_t>, std::uint64_t>{
          {{1, kWholeClass}, 20 * 9 * 50 - 5 * 9 * 19}, {{2, 0}, 216}, {{2, 1}, 5 * 40 * 19}}));
  EXPECT_TRUE(Cohort::open(path_)->label_sites(0, "other").blocks.empty());
}

TEST_F(SiteTables, AreSeenByTheClassesOfWhoeverAsks) {
  using Voxels = std::map<std::pair<int, std::uint32_t>, std::uint64_t>;
  const auto cohort = Cohort::open(path_);
  const auto voxels_of = [](const SiteIndex& sites) {
    Voxels voxels;
    std::vector<std::pair<int, std::uint32_t>> order;
    for (const SiteBlock& block : sites.blocks) {
      voxels[{block.class_value, block.region}] += block.pixels;
      order.emplace_back(block.class_value, block.region);
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    return voxels;
  };
  ASSERT_EQ(cohort->classes(), (std::vector<std::string>{"background", "liver", "lesion"}));
  const std::uint64_t liver = 20 * 9 * 50 - 5 * 9 * 19;
  const SiteIndex turned =
      cohort->seen_by({"background", "lesion", "spleen", "liver"})->label_sites(0, "annotation");
  EXPECT_EQ(voxels_of(turned),
            (Voxels{{{1, 0}, 216}, {{1, 1}, 5 * 40 * 19}, {{3, kWholeClass}, liver}}));
  EXPECT_FALSE(turned.left_out);
  const SiteIndex fewer = cohort->seen_by({"background", "liver"})->label_sites(0, "annotation");
  EXPECT_EQ(voxels_of(fewer), (Voxels{{{1, kWholeClass}, liver}}));
  EXPECT_TRUE(fewer.left_out);
  const SiteIndex first = cohort->seen_by({"liver", "lesion"})->label_sites(0, "annotation");
  EXPECT_EQ(voxels_of(first), (Voxels{{{1, 0}, 216}, {{1, 1}, 5 * 40 * 19}}));
  EXPECT_FALSE(first.left_out) << "what is class 0 to the other is background, not ignored";
}

TEST(SiteTablesOfSpoiltStores, AClassThatTheStoreDoesNotHaveIsNamed) {
  const TemporaryFolder folder;
  fixtures::VolumeSpec spec;
  spec.images = 1;
  spec.shape_zyx = {20, 40, 50};
  spec.classes = {"background", "liver"};
  spec.label = [](int, std::int64_t z, std::int64_t, std::int64_t) {
    return static_cast<std::uint8_t>(z < 5 ? 2 : 0);
  };
  fixtures::write_volume_store(folder.path("c.zarr"), spec);
  try {
    Cohort::open(folder.path("c.zarr"))->label_sites(0, "annotation");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("/sites: row 0 is of class 2, expected 1 to 1"))
        << error.what();
  }
}

TEST_F(SiteTables, OfTissueHaveEveryVoxelOfTheBody) {
  const auto cohort = Cohort::open(path_);
  std::uint64_t body = 0, found = 0;
  for (std::int64_t z = 0; z < 20; ++z) {
    for (std::int64_t y = 0; y < 40; ++y) {
      for (std::int64_t x = 0; x < 50; ++x) body += fixtures::fixture_hu(spec_, 0, z, y, x) > -500;
    }
  }
  for (const SiteBlock& block : cohort->tissue_sites(0).blocks) found += block.pixels;
  EXPECT_GT(body, 0u);
  EXPECT_EQ(found, body);
}

TEST_F(SiteTables, ABlockThatIsNot256PartsIsNamed) {
  replace("images/scan-000/labels/annotation/sites/zarr.json", "4,", "8,");
  EXPECT_TRUE(refusal().ends_with("/sites: 'block' and 'part' do not cut a block into 256 parts"))
      << refusal();
}

TEST_F(SiteTables, ABlockBeyondTheImageIsNamed) {
  // Blocks three times as deep: the second layer of them begins below the volume.
  replace("images/scan-000/labels/annotation/sites/zarr.json", "16,", "48,");
  replace("images/scan-000/labels/annotation/sites/zarr.json", "1,", "3,");
  EXPECT_NE(refusal().find("which holds nothing inside the image"), std::string::npos) << refusal();
}

TEST_F(SiteTables, AMissingEdgeIsNamed) {
  replace("index/scan-000/zarr.json", "\"part\"", "\"parts\"");
  EXPECT_TRUE(refusal().ends_with("the field 'part' is missing; ingest the store again"))
      << refusal();
}

}  // namespace
}  // namespace headrace::cohort
