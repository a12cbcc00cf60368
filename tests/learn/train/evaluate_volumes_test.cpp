#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/inference/volume/original_grid.hpp"
#include "learn/inference/volume/predicted_region.hpp"
#include "learn/inference/volume/slice_reader.hpp"
#include "learn/measure/volume/volume_meter.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/run/run_identity.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

/// Three volumes of 20 × 44 × 52 voxels, 2.5 × 0.8 × 0.8 mm, and a run on them at 2.5 × 1.6 × 1.6.
class EvaluateVolumesTest : public ::testing::Test {
 protected:
  EvaluateVolumesTest() {
    spec_.shape_zyx = {20, 44, 52};
    fixtures::write_volume_store(folder_.path("ct.zarr"), spec_);
  }
  config::RunConfig config(const std::string& size, const std::string& more = "",
                           const std::string& spacing = "[2.5, 1.6, 1.6]") const {
    return config::RunConfig::parse(
        "task: colorectal\n"
        "data: {store: " +
            folder_.path("ct.zarr") +
            "}\n"
            "patch: {size: " +
            size + ", spacing_mm: " + spacing +
            "}\n"
            "sampling: {seed: 3}\n"
            "transforms:\n  - window_hu: {low: -160, high: 240}\n"
            "model: {name: unet3d, widths: [8, 16]}\n"
            "train: {threads: 1}\n"
            "eval: {lesion_probability: 0.34, lesion_min_mm3: 0, lesion_classes: [lesion]" +
            more + "}\n",
        "run.yaml");
  }

  fixtures::VolumeSpec spec_;
  fixtures::TemporaryFolder folder_;
};

TEST_F(EvaluateVolumesTest, OneWindowIsWholeVolumeInferenceOnTheOriginalGrid) {
  struct Case {
    std::string size, spacing;
    std::array<std::int64_t, 3> patch;
    std::array<double, 3> step;
  };
  for (const Case& c : {Case{"[20, 22, 26]", "[2.5, 1.6, 1.6]", {20, 22, 26}, {1, 2, 2}},
                        Case{"[20, 44, 52]", "null", {20, 44, 52}, {1, 1, 1}}}) {
    const auto run = config(c.size, "", c.spacing);
    const auto cohort = open_cohort(run);
    inference::Network network(run, cohort->classes().size());
    const Json json = evaluate(network, cohort, run, {"train", 4}).json;
    const auto plan = loader::make_tile_plan(*cohort, run, "train");
    ASSERT_EQ(plan->samples_per_epoch(), 2u);
    loader::Loader loader(cohort, run, plan, true);
    measure::VolumeRules rules;
    rules.classes = 3;
    rules.lesion_classes = {2};
    measure::VolumeMeter meter(rules);
    const auto preprocessing = loader::Preprocessing::fit(*cohort, run);
    const auto plane = static_cast<std::size_t>(c.patch[1] * c.patch[2]);
    const auto voxels = plane * static_cast<std::size_t>(c.patch[0]);
    int image = 0;
    while (const auto batch = loader.next()) {
      const auto p = network.predict(*batch);
      for (std::int64_t s = 0; s < batch->samples; ++s, ++image) {
        meter.start(spec_.shape_zyx, spec_.spacing_mm_zyx);
        const cohort::VolumeRecord& record =
            *cohort->images()[static_cast<std::size_t>(image)].volume;
        EXPECT_EQ(record.levels.front().shape_zyx, spec_.shape_zyx);
        inference::SliceReader body(cohort->body_mask(static_cast<std::size_t>(image)));
        inference::PredictedRegion region(*cohort, static_cast<std::uint32_t>(image), preprocessing,
                                          rules.lesion_classes);
        std::uint64_t annotated = 0;
        inference::OriginalGrid grid(
            3, c.patch, spec_.shape_zyx, c.step, [&](std::int64_t z, auto slice) {
              std::vector<std::uint8_t> truth;
              for (std::int64_t y = 0; y < spec_.shape_zyx[1]; ++y) {
                for (std::int64_t x = 0; x < spec_.shape_zyx[2]; ++x)
                  truth.push_back(fixtures::fixture_volume_label(spec_, image, z, y, x));
              }
              annotated += static_cast<std::uint64_t>(std::count_if(
                  truth.begin(), truth.end(), [](auto label) { return label != 255; }));
              meter.add(slice, truth, body.slice(z));
              const auto calls = meter.last_slice();
              region.limit(z, calls.predicted, calls.lesion, 0);
            });
        const float* classes = p.data() + static_cast<std::size_t>(s) * 3 * voxels;
        std::vector<float> slice(3 * plane);
        for (std::int64_t z = 0; z < c.patch[0]; ++z) {
          for (std::size_t k = 0; k < 3; ++k)
            std::copy_n(classes + k * voxels + static_cast<std::size_t>(z) * plane, plane,
                        slice.begin() + static_cast<std::ptrdiff_t>(k * plane));
          grid.add(slice);
        }
        const measure::VolumeFigures expected = meter.finish();
        const Json& found = json.at("images").at(static_cast<std::size_t>(image));
        EXPECT_EQ(found.at("voxels"), annotated);
        EXPECT_EQ(expected.confusion.total(), annotated);
        EXPECT_EQ(found.at("dice").at("lesion"), *expected.confusion.dice(2));
        EXPECT_EQ(found.at("surface_dice").at("liver"), *expected.surface_dice[1]);
        EXPECT_NEAR(found.at("calibration").at("brier").get<double>(),
                    *expected.calibration.brier(), 1e-7);
        ASSERT_EQ(expected.lesions.size(), 1u);
        ASSERT_EQ(found.at("lesions").size(), 1u);
        EXPECT_EQ(found.at("lesions")[0].at("voxels"), expected.lesions[0].voxels);
        EXPECT_EQ(found.at("calls").size(), expected.calls.size());
      }
    }
    EXPECT_EQ(image, 2);
  }
}

TEST_F(EvaluateVolumesTest, PartsAddUpAndWindowsCountVoxelsOnce) {
  const auto whole = config("[20, 22, 26]"), tiled = config("[8, 16, 16]", ", overlap: 0.5");
  const auto cohort = open_cohort(whole);
  inference::Network network(whole, cohort->classes().size());
  const Json one = evaluate(network, cohort, whole, {"train", 0}).json;
  const Evaluation many = evaluate(network, cohort, tiled, {"train", 3});
  EXPECT_GT(many.json.at("tiles"), 20);
  const auto truth_of = [](const Json& json) {
    std::vector<std::uint64_t> out;
    for (const Json& row : json.at("overall").at("matrix")) {
      out.push_back(0);
      for (const Json& count : row) out.back() += count.get<std::uint64_t>();
    }
    return out;
  };
  EXPECT_EQ(truth_of(one), truth_of(many.json));
  for (const char* kind : {"cohorts", "phases", "cases"}) {
    std::uint64_t voxels = 0, images = 0, lesions = 0;
    for (const auto& [name, group] : many.json.at(kind).items()) {
      voxels += group.at("voxels").get<std::uint64_t>();
      images += group.at("images").get<std::uint64_t>();
      lesions += group.at("lesion").at("lesions").get<std::uint64_t>();
    }
    EXPECT_EQ(voxels, many.json.at("overall").at("voxels").get<std::uint64_t>());
    EXPECT_EQ(images, 2u);
    EXPECT_EQ(lesions, 2u);
  }
  ASSERT_FALSE(many.montage.empty());
  ASSERT_EQ(many.montage[0].pictures.size(), 3u);
  EXPECT_EQ(many.montage[0].pictures[2].name, "sagittal");
  // 8 slices of 2.5 mm stand over 16 columns of 1.6 mm: 20 × 25.6 mm.
  EXPECT_EQ(many.montage[0].pictures[1].pixels.width, 320);
  EXPECT_EQ(many.montage[0].pictures[1].pixels.height, 250);
}

TEST_F(EvaluateVolumesTest, IntervalsNeedTenCases) {
  auto run = config("[20, 22, 26]", ", bootstrap: 100");
  const auto cohort = open_cohort(run);
  inference::Network network(run, cohort->classes().size());
  const Json json = evaluate(network, cohort, run, {"train", 0}).json;
  EXPECT_EQ(json.at("overall").at("no_interval"), "2 cases: no interval");
  EXPECT_EQ(json.at("cohorts").begin()->at("no_interval"), "1 case: no interval");
  EXPECT_FALSE(json.at("overall").contains("interval_95"));
  const Json without = evaluate(network, cohort, run, {"train", 0, false}).json.at("overall");
  EXPECT_FALSE(without.contains("interval_95") || without.contains("no_interval"));
}

TEST_F(EvaluateVolumesTest, ClassesAndNetworksThatDoNotFitAreRefused) {
  auto run = config("[8, 16, 16]");
  run.eval.lesion_classes = {"leson"};
  EXPECT_THROW(open_cohort(run), Error);
  run = config("[8, 16, 16]");
  run.model.name = config::NetworkName::unet2d;
  EXPECT_THROW(inference::Network(run, 3), Error);
}

}  // namespace
}  // namespace headrace::train
