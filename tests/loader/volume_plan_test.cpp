#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/foreground_stats.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "tests/loader/expect_fits.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::VolumeSpec;

/// One store for every test here: writing it is the slow part.
class VolumePlanTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    spec_.images = 5;
    fixtures::write_volume_store(folder_->path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static LoaderConfig config(
      const std::string& sampling = "", const std::string& more = "",
      const std::string& patch = "size: [32, 48, 64], spacing_mm: [2, 1, 1]") {
    return LoaderConfig::parse("task: segmentation\ndata: {store: c.zarr}\npatch: {" + patch +
                                   "}\nsampling: {" + sampling + "}\n" + more,
                               "run.yaml");
  }
  static std::array<double, 3> centre_of(const SampleSite& site) {
    return {site.centre_level0_z, site.centre_level0_yx[0], site.centre_level0_yx[1]};
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline VolumeSpec spec_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

std::uint64_t cell_key(std::uint64_t image, const std::array<std::uint32_t, 3>& cell) {
  return ((image * 100 + cell[0]) * 100 + cell[1]) * 100 + cell[2];
}
constexpr std::uint64_t kClass = 1'000'000'000;

TEST_F(VolumePlanTest, ClassesAndImagesAreDrawnAlikeAndTheCellsOfAnImageByTheirVoxels) {
  const auto plan = make_training_plan(
      *cohort_, config("seed: 11, foreground: 1, balance: class, keep_inside: false"));
  std::map<std::uint64_t, double> share;
  for (const std::uint32_t image : {0u, 1u, 3u, 4u}) {
    const auto cells = cohort_->volume_cells(image, "annotation");
    for (std::uint64_t c = 1; c < 3; ++c) {
      const auto& voxels = cells.class_voxels[c];
      const double all = std::accumulate(voxels.begin(), voxels.end(), 0.0);
      for (std::size_t k = 0; k < voxels.size(); ++k) {
        if (voxels[k] == 0) continue;
        share[c * kClass + cell_key(image, cells.cell_zyx[k])] = 0.5 * 0.25 * voxels[k] / all;
      }
    }
  }
  std::map<std::uint64_t, std::uint64_t> count;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const SampleSite site = plan->site(3, i);
    std::array<std::uint32_t, 3> cell{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      cell[axis] = static_cast<std::uint32_t>(centre_of(site)[axis] / 16);
    ++count[static_cast<std::uint64_t>(site.drawn_class) * kClass + cell_key(site.image, cell)];
  }
  fixtures::expect_fits(share, count, "class, image and cell");
}

TEST_F(VolumePlanTest, TheRestLiesInTheBodyButForTheStatedPartOfPlainBackground) {
  const auto count_of = [&](const std::string& background) {
    const auto plan = make_training_plan(
        *cohort_,
        config("seed: 6, foreground: 0.25, keep_inside: false, background: " + background));
    std::map<std::uint64_t, std::uint64_t> aims, body;
    for (std::uint64_t i = 0; i < 40000; ++i) {
      const SampleSite site = plan->site(0, i);
      ++aims[site.drawn_class < 0 ? 0 : 1];
      if (site.drawn_class >= 0) continue;
      // Parts are one voxel thick and 4 wide.
      const auto at = centre_of(site);
      bool found = false;
      for (int k = 0; k < 16; ++k) {
        const auto along = [&](std::size_t axis, int step) {
          return std::min(static_cast<std::int64_t>(at[axis] / 4) * 4 + step,
                          spec_.shape_zyx[axis] - 1);
        };
        found |= fixtures::fixture_hu(spec_, static_cast<int>(site.image),
                                      static_cast<std::int64_t>(at[0]), along(1, k / 4),
                                      along(2, k % 4)) > -500;
      }
      ++body[found ? 1 : 0];
    }
    fixtures::expect_fits({{0, 0.75}, {1, 0.25}}, aims, "foreground");
    return body;
  };
  EXPECT_FALSE(count_of("0").contains(0));
  EXPECT_GT(count_of("0.5").at(0), 5000u);
}

TEST_F(VolumePlanTest, APatchThatIsNotTurnedStaysInsideItsVolumeUnlessItAimsAtAClassByItsBorder) {
  const LoaderConfig inside = config("seed: 6, foreground: 0.5");
  const auto plan = make_training_plan(*cohort_, inside),
             free = make_training_plan(*cohort_, config("seed: 6, foreground: 0.5, "
                                                        "keep_inside: false"));
  std::uint64_t at_the_edge = 0, held_back = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const SampleSite site = plan->site(0, i);
    const auto at = centre_of(site), wanted = centre_of(free->site(0, i));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double half = 0.5 * inside.volume_patch.size_zyx[axis] *
                          inside.volume_patch.spacing_mm_zyx[axis] / spec_.spacing_mm_zyx[axis];
      const auto length = static_cast<double>(spec_.shape_zyx[axis]);
      if (site.drawn_class >= 0) {
        // By a quarter of the patch at most; parts are up to 4 voxels wide.
        const double moved = std::abs(at[axis] - wanted[axis]);
        ASSERT_LE(moved, 0.5 * half);
        held_back += moved > 0.5 * half - 4;
        continue;
      }
      ASSERT_GE(at[axis], half);
      ASSERT_LE(at[axis], length - half);
      at_the_edge += at[axis] == half || at[axis] == length - half ? 1 : 0;
    }
  }
  EXPECT_GT(at_the_edge, 0u) << "nothing was moved: the test's patch is too small to tell";
  EXPECT_GT(held_back, 0u) << "no class lies so near to a border";
}

TEST_F(VolumePlanTest, AllPlacesInsideAreEquallyLikelyForAPatchThatLiesAnywhere) {
  const LoaderConfig anywhere = config("seed: 6, foreground: 0, background: 1");
  const auto plan = make_training_plan(*cohort_, anywhere);
  std::array<std::map<std::uint64_t, std::uint64_t>, 3> tenths;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto at = centre_of(plan->site(0, i));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double half = 0.5 * anywhere.volume_patch.size_zyx[axis] *
                          anywhere.volume_patch.spacing_mm_zyx[axis] / spec_.spacing_mm_zyx[axis];
      const double room = static_cast<double>(spec_.shape_zyx[axis]) - 2 * half;
      ASSERT_GT(room, 0) << "the test's patch is too large to tell";
      ++tenths[axis][static_cast<std::uint64_t>(10 * (at[axis] - half) / room)];
    }
  }
  std::map<std::uint64_t, double> alike;
  for (std::uint64_t tenth = 0; tenth < 10; ++tenth) alike[tenth] = 0.1;
  for (const auto& found : tenths) fixtures::expect_fits(alike, found, "tenths of the room");
}

TEST_F(VolumePlanTest, ImageBalanceAndCohortWeightsSetTheImagesShares) {
  const auto images_of = [&](const std::string& sampling) {
    const auto plan = make_training_plan(*cohort_, config(sampling));
    std::map<std::uint64_t, std::uint64_t> count;
    for (std::uint64_t i = 0; i < 50000; ++i) ++count[plan->site(0, i).image];
    return count;
  };
  fixtures::expect_fits({{0, 0.25}, {1, 0.25}, {3, 0.25}, {4, 0.25}}, images_of("balance: image"),
                        "image balance");
  // Cohorts in turn: images 0 and 4 are east, 1 and 3 west.
  fixtures::expect_fits({{0, 0.375}, {4, 0.375}, {1, 0.125}, {3, 0.125}},
                        images_of("balance: image, cohort_weights: {east: 3, west: 1}"),
                        "cohort weights");
}

TEST_F(VolumePlanTest, ASiteIsAFunctionOfSeedEpochAndIndexAlone) {
  const auto plan = make_training_plan(*cohort_, config("seed: 1, keep_inside: false"));
  const auto again = make_training_plan(*cohort_, config("seed: 1, keep_inside: false"));
  const auto other = make_training_plan(*cohort_, config("seed: 2, keep_inside: false"));
  int as_other_seed = 0, as_next_epoch = 0;
  for (std::uint64_t i = 1000; i-- > 0;) {
    const SampleSite a = plan->site(4, i), b = again->site(4, i);
    EXPECT_EQ(a.image, b.image);
    EXPECT_EQ(centre_of(a), centre_of(b));
    as_other_seed += centre_of(a)[0] == centre_of(other->site(4, i))[0];
    as_next_epoch += centre_of(a)[0] == centre_of(plan->site(5, i))[0];
  }
  EXPECT_EQ(as_other_seed, 0);
  EXPECT_EQ(as_next_epoch, 0);
}

TEST_F(VolumePlanTest, TilesCoverTheBodyInOrderAndStayInside) {
  const auto settings = config("", "eval: {overlap: 0.25}\n");
  const auto plan = make_tile_plan(*cohort_, settings, "val");
  EXPECT_FALSE(plan->random());
  const std::array<std::int64_t, 3> extent{63, 104, 113};  // of the volume in patch voxels, up
  std::set<std::array<std::int64_t, 3>> starts;
  std::array<std::int64_t, 3> last{-1, -1, -1};
  for (std::uint64_t i = 0; i < plan->samples_per_epoch(); ++i) {
    const SampleSite site = plan->site(0, i);
    ASSERT_EQ(site.image, 2u);
    EXPECT_EQ(site.drawn_class, -1);
    const std::array<std::int64_t, 3> start{site.tile_z, site.tile_yx[0], site.tile_yx[1]};
    ASSERT_LT(last, start) << "z, then y, then x";
    last = start;
    starts.insert(start);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto size = settings.volume_patch.size_zyx[axis];
      ASSERT_GE(start[axis], 0);
      ASSERT_LE(start[axis] + size, extent[axis]);
      EXPECT_NEAR(centre_of(site)[axis],
                  (static_cast<double>(start[axis]) + size * 0.5) *
                      settings.volume_patch.spacing_mm_zyx[axis] / spec_.spacing_mm_zyx[axis],
                  1e-9);
    }
  }
  for (std::int64_t z = 0; z < spec_.shape_zyx[0]; ++z) {
    for (std::int64_t y = 0; y < spec_.shape_zyx[1]; y += 3) {
      for (std::int64_t x = 0; x < spec_.shape_zyx[2]; x += 3) {
        if (fixtures::fixture_hu(spec_, 2, z, y, x) <= -500) continue;
        const std::array<double, 3> at{(z + 0.5) * 2.5 / 2, (y + 0.5) * 0.8, (x + 0.5) * 0.8};
        const bool covered = std::any_of(starts.begin(), starts.end(), [&](const auto& start) {
          bool in = true;
          for (std::size_t a = 0; a < 3; ++a) {
            const auto from = static_cast<double>(start[a]);
            in &= at[a] >= from && at[a] < from + settings.volume_patch.size_zyx[a];
          }
          return in;
        });
        ASSERT_TRUE(covered) << z << ", " << y << ", " << x;
      }
    }
  }
}

TEST_F(VolumePlanTest, TilesLieWhereTheBodyIsWhateverIsAnnotated) {
  fixtures::TemporaryFolder folder;
  VolumeSpec spec;
  spec.images = 3;
  spec.label = [](int, std::int64_t z, std::int64_t y, std::int64_t x) {
    return std::uint8_t{z < 3 && y < 3 && x < 3};  // a corner, which is air
  };
  fixtures::write_volume_store(folder.path("corner.zarr"), spec);
  const auto corner = cohort::Cohort::open(folder.path("corner.zarr"));
  const auto labelled = corner->volume_cells(2, "annotation"), body = corner->volume_cells(2, "");
  ASSERT_GT(labelled.cell_zyx.size(), body.cell_zyx.size());
  const auto settings = config();
  const auto tiles = make_tile_plan(*cohort_, settings, "val"),
             other = make_tile_plan(*corner, settings, "val");
  ASSERT_EQ(other->samples_per_epoch(), tiles->samples_per_epoch());
  for (std::uint64_t i = 0; i < tiles->samples_per_epoch(); ++i)
    EXPECT_EQ(centre_of(other->site(0, i)), centre_of(tiles->site(0, i))) << i;
}

TEST_F(VolumePlanTest, NeighbouringTilesShareTheOverlap) {
  const auto settings =
      config("", "eval: {overlap: 0.5}\n", "size: [16, 32, 32], spacing_mm: null");
  const auto plan = make_tile_plan(*cohort_, settings, "val");
  std::array<std::set<std::int64_t>, 3> starts;
  for (std::uint64_t i = 0; i < plan->samples_per_epoch(); ++i) {
    const SampleSite site = plan->site(0, i);
    starts[0].insert(site.tile_z);
    starts[1].insert(site.tile_yx[0]);
    starts[2].insert(site.tile_yx[1]);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t size = settings.volume_patch.size_zyx[axis];
    ASSERT_GT(starts[axis].size(), 2u);
    for (auto next = std::next(starts[axis].begin()); next != starts[axis].end(); ++next)
      EXPECT_LE(*next - *std::prev(next), size / 2) << "along axis " << axis;
  }
}

TEST_F(VolumePlanTest, ATileLargerThanItsVolumeStartsAtItsCorner) {
  const auto plan = make_tile_plan(*cohort_, config("", "", "size: [96, 160, 160]"), "val");
  ASSERT_EQ(plan->samples_per_epoch(), 2u) << "125 mm along z take two windows of 96";
  const SampleSite site = plan->site(0, 0);
  EXPECT_EQ(site.tile_z, 0);
  EXPECT_EQ(site.tile_yx, (std::array<std::int64_t, 2>{0, 0}));
}

TEST_F(VolumePlanTest, TheLevelIsTheCoarsestThatIsFineEnoughAlongEveryAxis) {
  const auto level = [&](const std::string& spacing) {
    return choose_volume_level(cohort_->images()[0],
                               config("", "", "size: [32, 32, 32], spacing_mm: " + spacing));
  };
  // Levels: 2.5 x 0.8 x 0.8, 2.5 x 1.6 x 1.6, 2.5 x 3.2 x 3.2.
  EXPECT_EQ(level("[1, 1, 1]"), 0u);
  EXPECT_EQ(level("[1.5, 1.5, 1.5]"), 0u);
  EXPECT_EQ(level("[1.6, 1.6, 1.6]"), 1u) << "z is coarser at every level";
  EXPECT_EQ(level("[5, 1.599, 3.3]"), 1u) << "to one part in a thousand";
  EXPECT_EQ(level("[5, 1.59, 3.3]"), 0u);
  EXPECT_EQ(level("[5, 3.2, 3.2]"), 2u);
  EXPECT_EQ(level("[9, 9, 9]"), 2u);
  EXPECT_EQ(level("null"), 0u);
}

TEST_F(VolumePlanTest, ForegroundStatsAreThoseOfEveryLabelledVoxelOfTheTrainingSplit) {
  std::vector<double> hu;
  for (const int image : {0, 1, 3, 4}) {
    for (std::int64_t z = 0; z < spec_.shape_zyx[0]; ++z) {
      for (std::int64_t y = 0; y < spec_.shape_zyx[1]; ++y) {
        for (std::int64_t x = 0; x < spec_.shape_zyx[2]; ++x) {
          const auto label = fixtures::fixture_volume_label(spec_, image, z, y, x);
          if (label == 1 || label == 2) hu.push_back(fixtures::fixture_hu(spec_, image, z, y, x));
        }
      }
    }
  }
  std::sort(hu.begin(), hu.end());
  double sum = 0, squares = 0;
  for (const double v : hu) sum += v;
  const auto n = static_cast<double>(hu.size());
  for (const double v : hu) squares += (v - sum / n) * (v - sum / n);
  const auto stats = detail::foreground_stats(*cohort_, config());
  EXPECT_EQ(stats.voxels, hu.size());
  EXPECT_NEAR(stats.mean, sum / n, 1e-9);
  EXPECT_NEAR(stats.std, std::sqrt(squares / n), 1e-9);
  EXPECT_NEAR(stats.low, hu[static_cast<std::size_t>(0.005 * (n - 1))], 1);
  EXPECT_NEAR(stats.high, hu[static_cast<std::size_t>(0.995 * (n - 1))], 1);
}

TEST(HistogramStats, InterpolateBetweenOrderStatisticsAsNumPyDoes) {
  // numpy.percentile([-5] * 150 + [10] * 49 + [40], [0.5, 99.5]) = [-5, 10.15], numpy.std
  // = 7.0738957
  const auto stats = detail::stats_of_histogram({{-5, 150}, {10, 49}, {40, 1}});
  EXPECT_EQ(stats.voxels, 200u);
  EXPECT_NEAR(stats.mean, (-750 + 490 + 40) / 200.0, 1e-12);
  EXPECT_NEAR(stats.std, 7.0738957, 1e-6);
  EXPECT_EQ(stats.low, -5);
  EXPECT_NEAR(stats.high, 10.15, 1e-9);
  EXPECT_EQ(detail::stats_of_histogram({}).voxels, 0u);
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST_F(VolumePlanTest, AStoreOfTheOtherKindIsRefused) {
  const auto slides = LoaderConfig::parse("task: segmentation\ndata: {store: c}\n", "run.yaml");
  const std::string text = refusal([&] { make_training_plan(*cohort_, slides); });
  EXPECT_TRUE(text.ends_with(
      "c.zarr: a store of volumes, but patch.size has 2 numbers, which is for slides. Give it 3: "
      "z, y, x"))
      << text;
}

TEST(VolumePlan, AStoreWithoutLabelsOrWithoutBodyIsRefusedWithAWayOut) {
  const fixtures::TemporaryFolder folder;
  VolumeSpec spec;
  spec.images = 1;
  spec.shape_zyx = {20, 30, 40};
  spec.labels = false;
  spec.air_alone = true;
  fixtures::write_volume_store(folder.path("c.zarr"), spec);
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  const auto config = [](const std::string& sampling) {
    return LoaderConfig::parse(
        "task: segmentation\ndata: {store: c.zarr}\npatch: {size: [16, 16, "
        "16]}\nmodel: {widths: [8, 16]}\nsampling: {" +
            sampling + "}\n",
        "run.yaml");
  };
  EXPECT_TRUE(refusal([&] { make_training_plan(*cohort, config("balance: class")); })
                  .ends_with("c.zarr: sampling.balance is 'class', but no image to train on has a "
                             "voxel of a class other than background. Use body or image, or ingest "
                             "with annotations"));
  EXPECT_TRUE(refusal([&] { make_training_plan(*cohort, config("balance: body")); })
                  .ends_with("c.zarr: no image to train on has a body. Set "
                             "sampling.foreground: 0 to sample anywhere"));
  EXPECT_TRUE(refusal([&] {
                detail::foreground_stats(*cohort, config(""));
              }).find("no image of split 'train' has a voxel of a class") != std::string::npos);
  const auto anywhere = make_training_plan(*cohort, config("foreground: 0, balance: body"));
  EXPECT_LT(anywhere->site(0, 7).centre_level0_z, 20);
  EXPECT_GT(make_tile_plan(*cohort, config(""), "train")->samples_per_epoch(), 0u)
      << "the whole volume, where there is no body";
}

}  // namespace
}  // namespace headrace::loader
