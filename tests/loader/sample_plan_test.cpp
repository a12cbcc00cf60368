#include "headrace/loader/plan/sample_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "tests/loader/expect_fits.hpp"
#include "tests/loader/store_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::StoreSpec;

/// One store for every test here: writing it is the slow part.
class SamplePlanTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    spec_.images = 5;
    spec_.splits = {"train", "train", "val"};
    fixtures::write_store(folder_->path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_->path("c.zarr"));
  }
  static void TearDownTestSuite() {
    cohort_.reset();
    folder_.reset();
  }
  static LoaderConfig config(const std::string& more = "") {
    return LoaderConfig::parse("task: segmentation\ndata: {store: c.zarr}\n" + more, "run.yaml");
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
  static inline StoreSpec spec_;
  static inline std::shared_ptr<const cohort::Cohort> cohort_;
};

using fixtures::expect_fits;

std::uint64_t cell_key(std::uint64_t image, std::uint64_t y, std::uint64_t x) {
  return image * 1000000 + y * 1000 + x;
}

TEST_F(SamplePlanTest, ClassesAndImagesAreDrawnAlikeAndTheCellsOfAnImageByTheirPixels) {
  const auto plan = make_training_plan(
      *cohort_,
      config("sampling: {seed: 11, foreground: 1, balance: class, keep_inside: false}\n"));
  std::map<std::uint64_t, double> share;
  for (const std::uint32_t image : {0u, 1u, 3u, 4u}) {
    const auto cells = cohort_->cells(image, "annotation");
    for (std::uint64_t c = 1; c < 3; ++c) {
      const auto& pixels = cells.class_px[c];
      const double all = std::accumulate(pixels.begin(), pixels.end(), 0.0);
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        if (pixels[k] == 0) continue;
        share[c * 100000000 + cell_key(image, cells.cell_y[k], cells.cell_x[k])] =
            0.5 * 0.25 * pixels[k] / all;
      }
    }
  }
  std::map<std::uint64_t, std::uint64_t> count;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const SampleSite site = plan->site(3, i);
    const auto cell = [](double at) { return static_cast<std::uint64_t>(at / 128); };
    ++count[static_cast<std::uint64_t>(site.drawn_class) * 100000000 +
            cell_key(site.image, cell(site.centre_level0_yx[0]), cell(site.centre_level0_yx[1]))];
  }
  expect_fits(share, count, "class, image and cell");
}

TEST_F(SamplePlanTest, PositionsAreUniformInTheirPart) {
  const auto plan = make_training_plan(
      *cohort_, config("sampling: {seed: 5, foreground: 1, balance: class, keep_inside: false}\n"));
  std::map<std::uint64_t, std::uint64_t> count;
  std::map<std::uint64_t, double> share;
  for (std::uint64_t bin = 0; bin < 64; ++bin) share[bin] = 1.0 / 64;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto [y, x] = plan->site(0, i).centre_level0_yx;
    ++count[static_cast<std::uint64_t>(std::fmod(y, 4) * 2) * 8 +
            static_cast<std::uint64_t>(std::fmod(x, 4) * 2)];
  }
  expect_fits(share, count, "position in the part");
}

TEST_F(SamplePlanTest, APatchThatIsNotTurnedStaysInsideItsImageUnlessItAimsAtAClassByItsBorder) {
  const LoaderConfig inside = config("sampling: {seed: 6, foreground: 0.25}\n");
  const auto plan = make_training_plan(*cohort_, inside),
             free = make_training_plan(
                 *cohort_, config("sampling: {seed: 6, foreground: 0.25, keep_inside: false}\n"));
  std::uint64_t at_the_edge = 0, held_back = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const SampleSite site = plan->site(0, i), wanted = free->site(0, i);
    const auto& image = cohort_->images()[site.image];
    const std::array<double, 2> mpp = level_mpp_yx(image, 0, inside);
    const std::array<std::int64_t, 2> size{image.levels[0].height, image.levels[0].width};
    const std::array<std::int32_t, 2> patch{inside.patch.height, inside.patch.width};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const double half = 0.5 * patch[axis] * inside.patch.mpp / mpp[axis];
      const double at = site.centre_level0_yx[axis], length = static_cast<double>(size[axis]);
      if (site.drawn_class >= 0) {
        // A quarter of the patch at most, whose part of 4 pixels stays in the central half.
        const double moved = std::abs(at - wanted.centre_level0_yx[axis]);
        ASSERT_LE(moved, 0.5 * half);
        held_back += moved > 0.5 * half - 4;
      } else if (2 * half >= length) {
        EXPECT_EQ(at, 0.5 * length);
      } else {
        EXPECT_GE(at, half);
        EXPECT_LE(at, length - half);
        at_the_edge += at == half || at == length - half ? 1 : 0;
      }
    }
  }
  EXPECT_GT(at_the_edge, 0u) << "nothing was moved: the test's patch is too small to tell";
  EXPECT_GT(held_back, 0u) << "no class lies so near to a border";
}

TEST_F(SamplePlanTest, TheRestLiesOnTissueButForTheStatedPartOfPlainBackground) {
  const auto count_of = [&](const std::string& background) {
    const auto plan = make_training_plan(
        *cohort_, config("sampling: {seed: 6, foreground: 0.25, keep_inside: false, background: " +
                         background + "}\n"));
    std::map<std::uint64_t, std::uint64_t> aims, tissue;
    for (std::uint64_t i = 0; i < 40000; ++i) {
      const SampleSite site = plan->site(0, i);
      ++aims[site.drawn_class < 0 ? 0 : 1];
      if (site.drawn_class >= 0) continue;
      const auto [y, x] = site.centre_level0_yx;
      bool near = false;  // parts of this store's tissue are 8 pixels
      for (int k = 0; k < 9; ++k) {
        const auto at_y =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(y) + 8 * (k / 3 - 1), 0, 899);
        const auto at_x =
            std::clamp<std::int64_t>(static_cast<std::int64_t>(x) + 8 * (k % 3 - 1), 0, 1099);
        near |= fixtures::fixture_label(spec_, static_cast<int>(site.image), at_y, at_x) != 0;
      }
      ++tissue[near ? 1 : 0];
    }
    expect_fits({{0, 0.75}, {1, 0.25}}, aims, "foreground");
    return tissue;
  };
  EXPECT_FALSE(count_of("0").contains(0)) << "nothing lies further than a part from tissue";
  // Glass is 1 - pi 0.16 (a disc of 0.4 of the edges) of a slide, and less a ring of a part's
  // width.
  const auto mixed = count_of("0.3");
  const double glass =
      static_cast<double>(mixed.at(0)) / static_cast<double>(mixed.at(0) + mixed.at(1));
  EXPECT_NEAR(glass, 0.3 * (1 - 3.14159265 * 0.16), 0.012);
}

TEST_F(SamplePlanTest, ImageBalanceAndCohortWeightsSetTheImagesShares) {
  const auto images_of = [&](const std::string& sampling) {
    const auto plan = make_training_plan(*cohort_, config("sampling: {" + sampling + "}\n"));
    std::map<std::uint64_t, std::uint64_t> count;
    for (std::uint64_t i = 0; i < 50000; ++i) ++count[plan->site(0, i).image];
    return count;
  };
  expect_fits({{0, 0.25}, {1, 0.25}, {3, 0.25}, {4, 0.25}}, images_of("balance: image"),
              "image balance");
  // Cohorts in turn: images 0 and 4 are east, 1 and 3 west.
  expect_fits({{0, 0.375}, {4, 0.375}, {1, 0.125}, {3, 0.125}},
              images_of("balance: image, cohort_weights: {east: 3, west: 1}"), "cohort weights");
  const auto east = images_of("balance: class, cohort_weights: {east: 1, west: 0}");
  EXPECT_FALSE(east.contains(1));
  EXPECT_FALSE(east.contains(3));
}

TEST_F(SamplePlanTest, PatchesHaveTheTissueThatIsAskedFor) {
  const auto share_of = [&](const std::string& more) {
    const auto plan = make_training_plan(
        *cohort_,
        config("patch: {size: [64, 64], mpp: 0.5}\nsampling: {balance: tissue, background: "
               "0" +
               more + "}\n"));
    double least = 1;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const SampleSite site = plan->site(0, i);
      int tissue = 0;
      for (int y = 0; y < 16; ++y) {
        for (int x = 0; x < 16; ++x) {
          const auto at = [&](double centre, int k) {
            return std::lround(std::floor(centre - 64 + k * 8 + 4));
          };
          const auto row = at(site.centre_level0_yx[0], y),
                     column = at(site.centre_level0_yx[1], x);
          tissue += fixtures::fixture_label(spec_, static_cast<int>(site.image), row, column) > 0;
        }
      }
      least = std::min(least, tissue / 256.0);
    }
    return least;
  };
  EXPECT_LT(share_of(""), 0.6) << "places at the edge of the tissue show glass";
  EXPECT_GT(share_of(", min_tissue: 0.9"), 0.8);
}

TEST_F(SamplePlanTest, AWindowHasSoManyPatchesOfSoManyImages) {
  const auto plan = make_training_plan(
      *cohort_,
      config("sampling: {balance: image, window_images: 3, patches_per_image: 5, batch: 4, "
             "batches_per_epoch: 2, foreground: 1}\n"));
  ASSERT_EQ(plan->samples_per_epoch(), 8U);
  const auto image_of = [&](std::uint64_t n) { return plan->site(n / 8, n % 8).image; };
  std::map<std::uint32_t, int> of_passes;
  int mixed = 0;
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t window = 0; window < 40; ++window) {
    std::map<std::uint32_t, int> of_window;
    std::vector<std::uint32_t> order;
    for (std::uint64_t n = window * 15; n < (window + 1) * 15; ++n) {
      order.push_back(image_of(n));
      ++of_window[order.back()];
      ++of_passes[order.back()];
      mixed += n % 15 > 0 && order[order.size() - 2] != order.back() ? 1 : 0;
    }
    for (const auto& [image, count] : of_window) EXPECT_EQ(count % 5, 0) << image;
    orders.insert(order);
    // Four images, so four windows of three are three passes.
    if (window % 4 != 3) continue;
    for (const std::uint32_t image : {0U, 1U, 3U, 4U}) EXPECT_EQ(of_passes[image], 15) << window;
    of_passes.clear();
  }
  EXPECT_GT(mixed, 40 * 6) << "of 14 neighbours of a window about ten are of other images";
  EXPECT_GT(orders.size(), 35U);
  for (const auto& [more, said] : std::map<std::string, std::string>{
           {"balance: class", "by which no class chooses"},
           {"balance: tissue, near_lesions: 0.1", "near_lesions"},
           {"balance: tissue, order: cover", "order of its own"},
           {"balance: tissue, cohort_weights: {east: 1}", "cohort"}}) {
    try {
      config("sampling: {window_images: 2, " + more + "}\n");
      ADD_FAILURE() << more;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
}

TEST_F(SamplePlanTest, ASiteIsAFunctionOfSeedEpochAndIndexAlone) {
  for (const std::string order :
       {"order: random", "order: cover", "balance: tissue, window_images: 2"}) {
    const auto of = [&](const std::string& seed) {
      return make_training_plan(
          *cohort_, config("sampling: {keep_inside: false, " + order + ", seed: " + seed + "}\n"));
    };
    const auto plan = of("1"), again = of("1"), other = of("2");
    int same_as_other_seed = 0, same_as_next_epoch = 0;
    for (std::uint64_t i = 1000; i-- > 0;) {
      const SampleSite a = plan->site(4, i), b = again->site(4, i);
      EXPECT_EQ(a.image, b.image);
      EXPECT_EQ(a.centre_level0_yx, b.centre_level0_yx);
      same_as_other_seed += a.centre_level0_yx == other->site(4, i).centre_level0_yx;
      same_as_next_epoch += a.centre_level0_yx == plan->site(5, i).centre_level0_yx;
    }
    EXPECT_EQ(same_as_other_seed, 0);
    EXPECT_EQ(same_as_next_epoch, 0);
  }
}

TEST_F(SamplePlanTest, TilesCoverEveryTissuePixelOnceOrMoreInOrder) {
  const auto settings = config("patch: {size: [128, 160], mpp: 0.5}\neval: {overlap: 0.25}\n");
  const auto plan = make_tile_plan(*cohort_, settings, "val");
  EXPECT_FALSE(plan->random());
  const std::int64_t height = 450, width = 550;  // of the image at 0.5
  std::vector<int> covered(static_cast<std::size_t>(height * width));
  std::array<std::int64_t, 2> last{-1, -1};
  for (std::uint64_t i = 0; i < plan->samples_per_epoch(); ++i) {
    const SampleSite site = plan->site(0, i);
    ASSERT_EQ(site.image, 2u);
    ASSERT_LT(last, site.tile_yx) << "row by row";
    last = site.tile_yx;
    EXPECT_EQ(site.centre_level0_yx[0], (static_cast<double>(site.tile_yx[0]) + 64) * 2);
    EXPECT_EQ(site.centre_level0_yx[1], (static_cast<double>(site.tile_yx[1]) + 80) * 2);
    ASSERT_LE(site.tile_yx[0] + 128, height);
    ASSERT_LE(site.tile_yx[1] + 160, width);
    for (std::int64_t y = site.tile_yx[0]; y < site.tile_yx[0] + 128; ++y) {
      for (std::int64_t x = site.tile_yx[1]; x < site.tile_yx[1] + 160; ++x) {
        ++covered[static_cast<std::size_t>(y * width + x)];
      }
    }
  }
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      if (fixtures::fixture_label(spec_, 2, 2 * y, 2 * x) == 0) continue;
      ASSERT_GT(covered[static_cast<std::size_t>(y * width + x)], 0) << y << ", " << x;
    }
  }
}

TEST_F(SamplePlanTest, AnImageSmallerThanATileGetsOneTile) {
  const auto plan =
      make_tile_plan(*cohort_, config("patch: {size: [1024, 1024], mpp: 0.5}\n"), "val");
  ASSERT_EQ(plan->samples_per_epoch(), 1u);
  EXPECT_EQ(plan->site(0, 0).tile_yx, (std::array<std::int64_t, 2>{0, 0}));
}

TEST_F(SamplePlanTest, AContextReadsTheCoarsestLevelThatIsFineEnough) {
  const cohort::ImageRecord& image = cohort_->images()[0];  // 0.25, 0.5, 1.0
  const auto level = [&](double mpp, int context) {
    return choose_level(image, mpp * context,
                        config("patch: {mpp: " + std::to_string(mpp) + "}\n"));
  };
  EXPECT_EQ(level(0.5, 1), 1u);
  EXPECT_EQ(level(0.4999, 1), 1u) << "scanners state 0.4999 for 0.5";
  EXPECT_EQ(level(0.45, 1), 0u);
  EXPECT_EQ(level(0.5, 2), 2u);
  EXPECT_EQ(level(0.5, 4), 2u) << "the last level there is";
  EXPECT_EQ(level(0.1, 1), 0u) << "finer than stored: interpolated from level 0";
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(SamplePlanTest, ImpossibleRequestsAreNamed) {
  const auto path = folder_->path("c.zarr");
  const auto plan = [&](const std::string& more) {
    return refusal([&] { make_training_plan(*cohort_, config(more)); });
  };
  auto other_split = config();
  other_split.data.train = "trian";
  EXPECT_EQ(refusal([&] { make_training_plan(*cohort_, other_split); }),
            path +
                ": data.train is 'trian', but none of the 5 images is in that split. Did you mean "
                "'train'?");
  EXPECT_EQ(plan("sampling: {cohort_weights: {east: 1, wets: 1}}\n"),
            path +
                ": sampling.cohort_weights names 'wets', but no image to sample is of that cohort. "
                "Did you mean 'west'?");
  EXPECT_EQ(plan("sampling: {cohort_weights: {east: 1}}\n"),
            path +
                ": sampling.cohort_weights leaves out cohort 'west'; give it a weight, 0 to leave "
                "it out");
}

TEST(SamplePlan, StoresThatCannotServeTheConfigAreRefused) {
  const fixtures::TemporaryFolder folder;
  StoreSpec spec;
  spec.images = 1;
  spec.height = spec.width = 200;
  spec.mpp.reset();
  spec.labels = false;
  fixtures::write_store(folder.path("plain.zarr"), spec);
  const auto cohort = cohort::Cohort::open(folder.path("plain.zarr"));
  const auto plan = [&](const std::string& more) {
    return make_training_plan(
        *cohort, LoaderConfig::parse("task: segmentation\ndata: {store: x}\n" + more, "run.yaml"));
  };
  EXPECT_EQ(refusal([&] { plan(""); }),
            "image slide-000: its micrometres a pixel are not known, but patch.mpp is 0.5. Ingest "
            "it with mpp, or set "
            "patch.mpp: null to cut patches in pixels of level 0");
  EXPECT_EQ(refusal([&] { plan("patch: {mpp: null}\nsampling: {balance: class}\n"); }),
            folder.path("plain.zarr") +
                ": sampling.balance is 'class', but no image to train on has a pixel of a class "
                "other than background. Use tissue or image, or ingest with annotations");
  EXPECT_EQ(plan("patch: {mpp: null}\nsampling: {balance: tissue}\n")->samples_per_epoch(), 1600u);
  EXPECT_EQ(plan("patch: {mpp: null}\n")->site(0, 0).drawn_class, -1)
      << "by default what the store allows";

  spec.glass_alone = true;
  fixtures::write_store(folder.path("glass.zarr"), spec);
  const auto glass = cohort::Cohort::open(folder.path("glass.zarr"));
  const auto config = LoaderConfig::parse(
      "task: segmentation\ndata: {store: x}\npatch: {mpp: null}\nsampling: {balance: tissue}\n",
      "run.yaml");
  EXPECT_EQ(refusal([&] { make_training_plan(*glass, config); }),
            folder.path("glass.zarr") +
                ": no image to train on has tissue. Set sampling.foreground: 0 to sample anywhere");
  EXPECT_EQ(refusal([&] { make_tile_plan(*glass, config, "train"); }),
            folder.path("glass.zarr") +
                ": no image of split 'train' has tissue, so there is nothing to tile");
}

}  // namespace
}  // namespace headrace::loader
