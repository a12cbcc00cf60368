#include "learn/train/evaluate/baseline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "headrace/core/error.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

class BallBaselineTest : public ::testing::Test {
 protected:
  BallBaselineTest() {
    spec_.shape_zyx = {24, 60, 70};
    fixtures::write_volume_store(folder_.path("ct.zarr"), spec_);
    cohort_ = cohort::Cohort::open(folder_.path("ct.zarr"));
    config_ = config::RunConfig::parse(
        "task: colorectal\ndata: {store: " + folder_.path("ct.zarr") + "}\n", "run.yaml");
  }
  /// mm³ of a class in image i.
  double volume_of(int image, std::uint8_t value) const {
    double voxels = 0;
    for (std::int64_t z = 0; z < spec_.shape_zyx[0]; ++z) {
      for (std::int64_t y = 0; y < spec_.shape_zyx[1]; ++y) {
        for (std::int64_t x = 0; x < spec_.shape_zyx[2]; ++x)
          voxels += fixtures::fixture_volume_label(spec_, image, z, y, x) == value ? 1 : 0;
      }
    }
    return voxels * 2.5 * 0.8 * 0.8;
  }

  fixtures::VolumeSpec spec_;
  fixtures::TemporaryFolder folder_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  config::RunConfig config_;
};

TEST_F(BallBaselineTest, HasTheMeanVolumeOfTheTrainingSplit) {
  const Baseline baseline = fit_baseline(*cohort_, config_);
  ASSERT_EQ(baseline.balls.size(), 3u);
  EXPECT_FALSE(baseline.balls[0]);
  for (const std::uint8_t c : {1, 2}) {  // images 0 and 1 train, 2 is val
    ASSERT_TRUE(baseline.balls[c]);
    EXPECT_NEAR(baseline.balls[c]->volume_mm3, (volume_of(0, c) + volume_of(1, c)) / 2, 1e-6);
    for (const double at : baseline.balls[c]->centre_zyx) {
      EXPECT_GE(at, 0);
      EXPECT_LE(at, 1);
    }
  }
}

TEST_F(BallBaselineTest, DrawsABallOfThatVolumeInTheBody) {
  Baseline baseline = fit_baseline(*cohort_, config_);
  baseline.balls[1].reset();  // so that nothing meets the lesion's
  baseline.balls[2] = {1800, {0.5, 0.5, 0.5}};
  BallSlices balls(baseline, *cohort_, 2);
  double voxels = 0, sum_z = 0;
  for (std::int64_t z = 0; z < 24; ++z) {
    const auto slice = balls.slice(z);
    const std::size_t pixels = slice.size() / 3;
    for (std::size_t i = 0; i < pixels; ++i) {
      EXPECT_EQ(slice[i] + slice[pixels + i] + slice[2 * pixels + i], 1);
      EXPECT_EQ(slice[pixels + i], 0);
      voxels += slice[2 * pixels + i];
      sum_z += slice[2 * pixels + i] * static_cast<double>(z);
    }
  }
  EXPECT_NEAR(voxels * 2.5 * 0.8 * 0.8, 1800, 90);
  EXPECT_NEAR(sum_z / voxels + 0.5, 12, 1.5);  // the middle of the body
}

TEST_F(BallBaselineTest, ComesBackFromItsJsonForOtherClasses) {
  const Baseline baseline = fit_baseline(*cohort_, config_);
  const Baseline again =
      Baseline::from_json(baseline.to_json(), {"background", "lesion", "spleen"});
  ASSERT_EQ(again.balls.size(), 3u);
  EXPECT_EQ(again.balls[1]->volume_mm3, baseline.balls[2]->volume_mm3);
  EXPECT_EQ(again.balls[1]->centre_zyx, baseline.balls[2]->centre_zyx);
  EXPECT_FALSE(again.balls[2]);
}

TEST(MajorityBaseline, SaysOneClassEverywhere) {
  const Baseline baseline{{"background", "benign", "cancer"}, {}, 2};
  const Json group = {{"matrix", {{10, 5, 5}, {0, 20, 0}, {10, 10, 40}}},
                      {"gleason", {{"matrix", {{1, 0}, {2, 3}}}}}};
  Json evaluation = {{"overall", group},
                     {"cohorts", {{"a", group}}},
                     {"scanners", Json::object()},
                     {"missing_classes", Json::array()}};
  const Json figures = majority_figures(baseline, evaluation);
  const Json& overall = figures.at("overall");
  EXPECT_NEAR(overall.at("dice").at("cancer").get<double>(), 2 * 60.0 / (60 + 100), 1e-15);
  EXPECT_EQ(overall.at("dice").at("benign"), 0);
  EXPECT_NEAR(overall.at("mean_dice").get<double>(), 0.375, 1e-15);
  EXPECT_NEAR(overall.at("accuracy").get<double>(), 0.6, 1e-15);
  EXPECT_EQ(overall.at("gleason").at("kappa"), 0);
  EXPECT_EQ(figures.at("cohorts").at("a"), overall);
  // Without a name for it in the labels the class has no figure, as in the evaluation itself.
  evaluation["missing_classes"] = {"benign"};
  const Json told = majority_figures(baseline, evaluation).at("overall");
  EXPECT_TRUE(told.at("dice").at("benign").is_null());
  EXPECT_EQ(told.at("mean_dice"), overall.at("dice").at("cancer"));
  EXPECT_EQ(Baseline::from_json(baseline.to_json(), {"cancer"}).majority, std::size_t{0});
  EXPECT_FALSE(Baseline::from_json(baseline.to_json(), {"stroma"}).majority);
}

}  // namespace
}  // namespace headrace::train
