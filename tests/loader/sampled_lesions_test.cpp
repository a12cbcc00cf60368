/// The draws of a training plan from cohorts with large and small lesions: each as often as the
/// runbook states, on the target of its aim, and with order: cover every one before any repeats.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "headrace/cohort/supervision.hpp"
#include "headrace/core/error.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "tests/loader/expect_fits.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::loader {
namespace {

using fixtures::expect_fits;
using Point = std::array<double, 3>;

struct Ball {
  int image = 0;
  Point centre_mm{};  ///< z, y, x from the volume's corner
  double radius_mm = 0;
  double mm3() const { return 4.0 / 3 * 3.14159265358979 * radius_mm * radius_mm * radius_mm; }
};

/// Volumes of 125 × 104 × 113 mm in slices of 2.5 mm; lesions (class 2) in liver (class 1).
class Volumes {
 public:
  Volumes(int images, std::vector<Ball> balls) : balls_(std::move(balls)) {
    spec_.images = images;
    spec_.splits = {"train"};
    spec_.label = [this](int i, std::int64_t z, std::int64_t y, std::int64_t x) {
      return label(i, {static_cast<double>(z), static_cast<double>(y), static_cast<double>(x)});
    };
    fixtures::write_volume_store(folder_.path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_.path("c.zarr"));
  }

  std::uint8_t label(int image, const Point& voxel) const {
    for (const Ball& ball : balls_) {
      if (ball.image != image) continue;
      double squares = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double mm = (voxel[a] + 0.5) * spec_.spacing_mm_zyx[a] - ball.centre_mm[a];
        squares += mm * mm;
      }
      if (squares <= ball.radius_mm * ball.radius_mm) return 2;
    }
    return voxel[2] > 100 && voxel[1] > 60 ? 1 : 0;
  }
  std::size_t nearest_ball(const SampleSite& site) const {
    std::size_t best = 0;
    double least = 1e9;
    for (std::size_t b = 0; b < balls_.size(); ++b) {
      if (balls_[b].image != static_cast<int>(site.image)) continue;
      double squares = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double mm = centre(site)[a] * spec_.spacing_mm_zyx[a] - balls_[b].centre_mm[a];
        squares += mm * mm;
      }
      if (std::sqrt(squares) - balls_[b].radius_mm >= least) continue;
      least = std::sqrt(squares) - balls_[b].radius_mm;
      best = b;
    }
    return best;
  }
  /// Whether the part that a sample lies in (1 × 4 × 4 voxels) has a voxel of the body.
  bool part_in_body(const SampleSite& site) const {
    const auto first = [&](std::size_t a, std::int64_t edge) {
      return static_cast<std::int64_t>(std::floor(centre(site)[a])) / edge * edge;
    };
    const std::int64_t z = first(0, 1), y = first(1, 4), x = first(2, 4);
    for (std::int64_t k = 0; k < 16; ++k) {
      if (fixtures::fixture_hu(spec_, static_cast<int>(site.image), z, y + k / 4, x + k % 4) > -500)
        return true;
    }
    return false;
  }
  static Point centre(const SampleSite& site) {
    return {site.centre_level0_z, site.centre_level0_yx[0], site.centre_level0_yx[1]};
  }
  /// Whether a voxel of the class that was aimed at has its centre within `part` of the patch.
  bool holds(const LoaderConfig& config, const SampleSite& site, double part) const {
    std::array<std::int64_t, 3> low{}, high{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double reach = 0.5 * part * config.volume_patch.size_zyx[a] *
                           config.volume_patch.spacing_mm_zyx[a] / spec_.spacing_mm_zyx[a];
      low[a] = std::max<std::int64_t>(
          0, static_cast<std::int64_t>(std::ceil(centre(site)[a] - reach - 0.5)));
      high[a] = std::min(spec_.shape_zyx[a] - 1,
                         static_cast<std::int64_t>(std::floor(centre(site)[a] + reach - 0.5)));
    }
    for (std::int64_t z = low[0]; z <= high[0]; ++z) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t x = low[2]; x <= high[2]; ++x) {
          const Point voxel{static_cast<double>(z), static_cast<double>(y), static_cast<double>(x)};
          if (label(static_cast<int>(site.image), voxel) == site.drawn_class) return true;
        }
      }
    }
    return false;
  }
  LoaderConfig config(
      const std::string& sampling,
      const std::string& patch = "size: [32, 48, 48], spacing_mm: [2.5, 1, 1]") const {
    return LoaderConfig::parse(
        "task: segmentation\ndata: {store: c.zarr}\nmodel: {widths: [8, 16]}\n"
        "patch: {" +
            patch + "}\nsampling: {" + sampling + "}\n",
        "run.yaml");
  }
  std::shared_ptr<const SamplePlan> plan(const LoaderConfig& config) const {
    return make_training_plan(*cohort_, config);
  }
  const std::vector<Ball>& balls() const { return balls_; }
  const cohort::Cohort& cohort() const { return *cohort_; }
  const fixtures::VolumeSpec& spec() const { return spec_; }

 private:
  std::vector<Ball> balls_;
  fixtures::TemporaryFolder folder_;
  fixtures::VolumeSpec spec_;
  std::shared_ptr<const cohort::Cohort> cohort_;
};

/// A lesion of 65 ml (25 mm radius) in patient 0, polyps of 8 mm in the other nine.
std::vector<Ball> ten_patients() {
  std::vector<Ball> balls{{0, {62, 50, 50}, 24.94}};
  for (int i = 1; i < 10; ++i) balls.push_back({i, {20.0 + 8 * i, 30.0 + 5 * i, 60}, 4});
  return balls;
}

TEST(SampledLesions, OfTenPatientsTheLargeLesionIsDrawnNoMoreThanThePolyps) {
  const Volumes volumes(10, ten_patients());
  EXPECT_NEAR(volumes.balls()[0].mm3(), 65000, 100);
  const auto plan = volumes.plan(volumes.config("seed: 17, foreground: 1"));
  std::map<std::uint64_t, std::uint64_t> count, classes;
  std::map<std::uint64_t, double> share;
  for (std::uint64_t b = 0; b < 10; ++b) share[b] = 0.1;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const SampleSite site = plan->site(0, i);
    ++classes[static_cast<std::uint64_t>(site.drawn_class)];
    if (site.drawn_class == 2) ++count[volumes.nearest_ball(site)];
  }
  expect_fits({{1, 0.5}, {2, 0.5}}, classes, "classes");
  expect_fits(share, count, "lesions of ten patients");
  std::printf("  draws a lesion, 65 ml first:");
  for (const auto& [ball, draws] : count) std::printf(" %d", static_cast<int>(draws));
  std::printf("\n");
}

TEST(SampledLesions, OfOnePatientByTheirVolumeToTheStatedPower) {
  const Volumes volumes(1, {{0, {62, 40, 35}, 24.94}, {0, {30, 85, 30}, 4}, {0, {90, 85, 60}, 8}});
  // Volumes in voxels, counted.
  std::vector<double> voxels(3);
  const auto shape = volumes.spec().shape_zyx;
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const Point at{static_cast<double>(z), static_cast<double>(y), static_cast<double>(x)};
        if (volumes.label(0, at) != 2) continue;
        SampleSite site;
        site.centre_level0_z = at[0] + 0.5;
        site.centre_level0_yx = {at[1] + 0.5, at[2] + 0.5};
        ++voxels[volumes.nearest_ball(site)];
      }
    }
  }
  for (const double power : {0.0, 0.5, 1.0}) {
    const auto plan = volumes.plan(volumes.config(
        "seed: 3, foreground: 1, keep_inside: false, lesion_size_power: " + std::to_string(power)));
    double sum = 0;
    std::map<std::uint64_t, double> share;
    for (std::uint64_t b = 0; b < 3; ++b) sum += share[b] = std::pow(voxels[b], power);
    for (auto& [ball, part] : share) part /= sum;
    std::map<std::uint64_t, std::uint64_t> count;
    for (std::uint64_t i = 0; i < 40000; ++i) {
      const SampleSite site = plan->site(0, i);
      if (site.drawn_class == 2) ++count[volumes.nearest_ball(site)];
    }
    expect_fits(share, count, "lesions of one patient, power " + std::to_string(power));
  }
}

TEST(SampledLesions, AimedPatchesOfVolumesHoldTheirClassInTheMiddle) {
  auto balls = ten_patients();
  balls.push_back({3, {2, 50, 60}, 6});    // at the first slices
  balls.push_back({4, {62, 102, 20}, 5});  // at an edge of the slices
  const Volumes volumes(10, balls);
  for (const std::string patch :
       {"size: [32, 48, 48], spacing_mm: [2.5, 1, 1]", "size: [48, 48, 48], spacing_mm: [1, 1, 1]",
        "size: [16, 16, 16], spacing_mm: [1, 1, 1]",
        "size: [8, 16, 16], spacing_mm: [2.5, 0.8, 0.8]"}) {
    for (const bool inside : {false, true}) {
      const auto config = volumes.config(
          fmt::format("seed: 9, foreground: 1, keep_inside: {}", inside ? "true" : "false"), patch);
      const auto plan = volumes.plan(config);
      const auto free =
          volumes.plan(volumes.config("seed: 9, foreground: 1, keep_inside: false", patch));
      int moved = 0, in_the_middle = 0;
      for (std::uint64_t i = 0; i < 3000; ++i) {
        const SampleSite site = plan->site(0, i);
        moved += Volumes::centre(site) != Volumes::centre(free->site(0, i));
        in_the_middle += volumes.holds(config, site, 0.5);
        ASSERT_TRUE(volumes.holds(config, site, 1)) << "sample " << i << " lost what it aimed at";
      }
      EXPECT_GE(in_the_middle, 0.99 * 3000) << patch;
      EXPECT_EQ(moved > 0, inside);
      std::printf("  %s: %d of 3000 in the middle, %d were moved\n", patch.c_str(), in_the_middle,
                  moved);
    }
  }
}

/// Slides of 900 × 1100 pixels with small structures of class 1 and one large one of class 2.
class Slides {
 public:
  Slides() {
    spec_.images = 3;
    spec_.splits = {"train"};
    spec_.label = [](int i, std::int64_t y, std::int64_t x) { return label(i, y, x); };
    fixtures::write_store(folder_.path("c.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_.path("c.zarr"));
  }
  static std::uint8_t label(int i, std::int64_t y, std::int64_t x) {
    const auto in_disc = [&](std::int64_t cy, std::int64_t cx, std::int64_t r) {
      return (y - cy) * (y - cy) + (x - cx) * (x - cx) <= r * r;
    };
    // Twelve nuclei an image, one of them a single pixel, two at the edges.
    for (int n = 0; n < 9; ++n) {
      if (in_disc(200 + 60 * n, 250 + 37 * ((n * 5 + i) % 9), 3 + n % 4)) return 1;
    }
    if ((y == 500 && x == 777) || in_disc(0, 555, 6) || in_disc(899, 1099, 5)) return 1;
    return in_disc(450, 850, 120) ? 2 : 0;
  }
  static bool holds(const LoaderConfig& config, const SampleSite& site, double part) {
    const double reach_y = 0.5 * part * config.patch.height * config.patch.mpp / 0.25,
                 reach_x = 0.5 * part * config.patch.width * config.patch.mpp / 0.25;
    const auto [cy, cx] = site.centre_level0_yx;
    for (auto y = static_cast<std::int64_t>(std::ceil(cy - reach_y - 0.5)); y + 0.5 <= cy + reach_y;
         ++y) {
      for (auto x = static_cast<std::int64_t>(std::ceil(cx - reach_x - 0.5));
           x + 0.5 <= cx + reach_x; ++x) {
        if (y < 0 || x < 0 || y >= 900 || x >= 1100) continue;
        if (label(static_cast<int>(site.image), y, x) == site.drawn_class) return true;
      }
    }
    return false;
  }
  LoaderConfig config(const std::string& sampling, const std::string& patch) const {
    return LoaderConfig::parse(
        "task: segmentation\ndata: {store: c.zarr}\nmodel: {widths: [8, 16]}\n"
        "patch: {" +
            patch + "}\nsampling: {" + sampling + "}\n",
        "run.yaml");
  }
  const cohort::Cohort& cohort() const { return *cohort_; }

 private:
  fixtures::TemporaryFolder folder_;
  fixtures::StoreSpec spec_;
  std::shared_ptr<const cohort::Cohort> cohort_;
};

TEST(SampledRegions, AimedPatchesOfSlidesHoldTheirClassInTheMiddle) {
  const Slides slides;
  for (const std::string patch :
       {"size: [64, 64], mpp: 0.25", "size: [16, 16], mpp: 0.25", "size: [128, 128], mpp: 0.5"}) {
    const auto config = slides.config("seed: 4, foreground: 1", patch);
    const auto plan = make_training_plan(slides.cohort(), config);
    const auto free = make_training_plan(
        slides.cohort(), slides.config("seed: 4, foreground: 1, keep_inside: false", patch));
    int moved = 0, in_the_middle = 0;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      const SampleSite site = plan->site(0, i);
      moved += site.centre_level0_yx != free->site(0, i).centre_level0_yx;
      in_the_middle += Slides::holds(config, site, 0.5);
      ASSERT_TRUE(Slides::holds(config, site, 1)) << "sample " << i << " lost what it aimed at";
    }
    EXPECT_GE(in_the_middle, 0.99 * 5000) << patch;
    EXPECT_GT(moved, 0);
    std::printf("  %s: %d of 5000 in the middle, %d were moved\n", patch.c_str(), in_the_middle,
                moved);
  }
}

TEST(SampledLesions, CoverVisitsEveryLesionBeforeAnyAgainAndEveryImage) {
  auto balls = ten_patients();
  balls.push_back({0, {20, 80, 20}, 5});
  balls.push_back({0, {100, 80, 20}, 5});
  balls.push_back({7, {110, 80, 20}, 5});
  const Volumes volumes(10, balls);
  const auto plan =
      volumes.plan(volumes.config("seed: 5, foreground: 0.75, order: cover, batches_per_epoch: 7"));
  using Region = std::pair<std::uint32_t, std::int64_t>;
  std::map<int, std::vector<Region>> visits;
  std::vector<std::uint32_t> rest;
  for (std::uint64_t epoch = 0; epoch < 40; ++epoch) {
    for (std::uint64_t i = 0; i < plan->samples_per_epoch(); ++i) {
      const SampleSite site = plan->site(epoch, i);
      if (site.drawn_class < 0) {
        rest.push_back(site.image);
      } else {
        visits[site.drawn_class].push_back({site.image, site.drawn_region});
        ASSERT_TRUE(volumes.holds(volumes.config(""), site, 1));
      }
    }
  }
  ASSERT_EQ(visits[1].size(), 210u);
  ASSERT_EQ(visits[2].size(), 210u);
  ASSERT_EQ(rest.size(), 140u);
  const auto every = [](const auto& all, std::size_t count) {
    std::set<std::vector<std::pair<std::uint32_t, std::int64_t>>> orders;
    for (std::size_t i = 0; i + count <= all.size(); i += count) {
      const std::vector<Region> cycle(all.begin() + static_cast<std::ptrdiff_t>(i),
                                      all.begin() + static_cast<std::ptrdiff_t>(i + count));
      EXPECT_EQ(std::set<Region>(cycle.begin(), cycle.end()).size(), count) << "from " << i;
      orders.insert(cycle);
    }
    EXPECT_GT(orders.size(), 5u) << "every time in another order";
  };
  every(visits[2], 13);
  every(visits[1], 10);
  std::vector<Region> images;
  for (const std::uint32_t image : rest) images.push_back({image, 0});
  every(images, 10);
}

TEST(SampledLesions, NearLesionsIsARingOnTissueWithoutThem) {
  auto balls = ten_patients();
  balls.push_back({5, {62, 52, 104}, 5});  // where the body ends: most of its ring is air
  const Volumes volumes(10, balls);
  const auto config = volumes.config(
      "seed: 8, foreground: 0, near_lesions: 1, background: 0, keep_inside: false, "
      "near_distance: 12, near_classes: [lesion]");
  const auto plan = volumes.plan(config);
  std::map<std::uint64_t, std::uint64_t> images;
  int at_the_edge = 0;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const SampleSite site = plan->site(0, i);
    ++images[site.image];
    const Point at = Volumes::centre(site);
    ASSERT_NE(volumes.label(static_cast<int>(site.image),
                            {std::floor(at[0]), std::floor(at[1]), std::floor(at[2])}),
              2);
    ASSERT_TRUE(volumes.part_in_body(site)) << "sample " << i << " lies in air";
    const std::size_t nearest = volumes.nearest_ball(site);
    at_the_edge += nearest + 1 == balls.size();
    const Ball& ball = volumes.balls()[nearest];
    for (std::size_t a = 0; a < 3; ++a) {
      // A part more on either side: 2.5 mm along z, 3.2 mm in the slice.
      EXPECT_LE(std::abs(at[a] * volumes.spec().spacing_mm_zyx[a] - ball.centre_mm[a]),
                ball.radius_mm + 12 + (a == 0 ? 5 : 6.4));
    }
  }
  EXPECT_EQ(images.size(), 10u);
  EXPECT_GT(at_the_edge, 20);
}

TEST(SampledLesions, ImagesWithoutAnnotationAreCountedAndLeftOut) {
  const fixtures::TemporaryFolder folder;
  fixtures::StoreSpec spec;
  spec.images = 6;
  spec.height = spec.width = 300;
  spec.splits = {"train"};
  spec.annotated = [](int i) { return i < 3; };
  spec.label = [](int i, std::int64_t y, std::int64_t x) {
    return static_cast<std::uint8_t>(i != 2 && y < 200 && x < 200 ? 1 + i : 0);
  };
  spec.grade_group = [](int i) { return i == 5 ? 0 : 1; };
  fixtures::write_store(folder.path("c.zarr"), spec);
  const auto cohort = cohort::Cohort::open(folder.path("c.zarr"));
  const auto counts = cohort::supervision_of(*cohort, "annotation", "train");
  EXPECT_EQ(counts.images.images, 6u);
  EXPECT_EQ(counts.images.negatives, 2u) << "an empty annotation, and grade group 0";
  EXPECT_EQ(counts.images.without, 2u);
  EXPECT_EQ(counts.labelled, 3u);
  EXPECT_EQ(counts.pixels[1], 40000u);
  const std::string said =
      "split 'train': 2 of 6 images are without annotation and are not sampled; 2 of 6 images "
      "are negative and teach background";
  EXPECT_EQ(counts.images.describe("train"), said);
  for (const std::string order : {"random", "cover"}) {
    const auto plan = make_training_plan(
        *cohort,
        LoaderConfig::parse("task: segmentation\ndata: {store: c}\nsampling: {foreground: 0.3, "
                            "order: " +
                                order + "}\n",
                            "run.yaml"));
    EXPECT_EQ(plan->remark(), said);
    std::set<std::uint32_t> images;
    for (std::uint64_t i = 0; i < 1000; ++i) images.insert(plan->site(0, i).image);
    EXPECT_EQ(images, (std::set<std::uint32_t>{0, 1, 2, 5}));
  }
}

}  // namespace
}  // namespace headrace::loader
