#include "learn/train/evaluate/evaluate.hpp"

#include <gtest/gtest.h>

#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/measure/base/confusion.hpp"
#include "learn/train/evaluate/evaluation_csv.hpp"
#include "tests/learn/train/training_fixture.hpp"

namespace headrace::train {
namespace {

TEST(Evaluate, OneTileOverAnImageIsWholeImageInference) {
  const fixtures::TrainingFixture fixture;
  auto config = fixture.config();
  config.patch.height = 152;  // the images are 150 × 170 at 0.5 µm a pixel
  config.patch.width = 172;
  const auto cohort = cohort::Cohort::open(config.data.store);
  inference::Network network(config, cohort->classes().size());
  const Evaluation result = evaluate(network, cohort, config, {"train", 4});

  const auto plan = loader::make_tile_plan(*cohort, config, "train");
  EXPECT_EQ(plan->samples_per_epoch(), 2u);
  loader::Loader loader(cohort, config, plan, true);
  measure::Confusion expected(3);
  while (const auto batch = loader.next()) {
    const auto p = network.predict(*batch);
    const std::size_t plane = 152 * 172;
    for (std::int64_t s = 0; s < batch->samples; ++s) {
      for (std::size_t i = 0; i < plane; ++i) {
        const std::uint8_t truth = batch->labels[static_cast<std::size_t>(s) * plane + i];
        const bool inside = i / 172 < 150 && i % 172 < 170;
        if (truth == 255 || !inside) continue;
        const float* first = p.data() + static_cast<std::size_t>(s) * 3 * plane + i;
        std::size_t best = 0;
        for (std::size_t c = 1; c < 3; ++c) {
          if (first[c * plane] > first[best * plane]) best = c;
        }
        expected.add(truth, best);
      }
    }
  }
  EXPECT_GT(expected.total(), 10000u);
  EXPECT_EQ(result.json.at("overall").at("matrix"),
            expected.to_json(cohort->classes()).at("matrix"));
  ASSERT_EQ(result.montage.size(), 2u);
  EXPECT_EQ(result.montage[0].pictures.at(0).pixels.height, 152);
}

TEST(Evaluate, PartsAddUpToTheWhole) {
  const fixtures::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = cohort::Cohort::open(config.data.store);
  inference::Network network(config, cohort->classes().size());
  const Json json = evaluate(network, cohort, config, {"train", 0}).json;
  for (const char* kind : {"cohorts", "scanners"}) {
    std::uint64_t pixels = 0, images = 0;
    for (const auto& [name, group] : json.at(kind).items()) {
      pixels += group.at("pixels").get<std::uint64_t>();
      images += group.at("images").get<std::uint64_t>();
    }
    EXPECT_EQ(pixels, json.at("overall").at("pixels").get<std::uint64_t>());
    EXPECT_EQ(images, 2u);
  }
  // Every annotated pixel under a tile is counted once, however tiles overlap; all tissue, half of
  // the images, is under one.
  const auto pixels = json.at("overall").at("pixels").get<std::uint64_t>();
  EXPECT_LE(pixels, 2u * 150 * 170);
  EXPECT_GT(pixels, 150u * 170);
  EXPECT_EQ(json.at("images").size(), 2u);
}

TEST(SlidesCsv, QuotesWhatNeedsItAndLeavesUndefinedCellsEmpty) {
  const Json found = {{"f1", 0.5}, {"pq", nullptr}};
  Json figures = {{"pixels", 5},
                  {"set_pixels", 2},
                  {"images", 1},
                  {"mean_dice", nullptr},
                  {"dice", {{"background", 0.5}, {"nucleus", nullptr}}},
                  {"tumour", {{"dice", 0.25}, {"auc", 0.75}, {"objects", found}}},
                  {"objects", {{"nucleus", found}}},
                  {"calibration", {{"ece", 0.1}, {"brier", nullptr}}},
                  {"cancer", true},
                  {"tumour_share", 0.125}};
  Json image = figures;
  image.update({{"id", "a,\"b\""}, {"case", "c"}, {"cohort", "k"}, {"scanner", "s"}});
  const Json eval = {{"task", "segmentation"},
                     {"classes", {"background", "nucleus"}},
                     {"images", {image}},
                     {"cases", {{"c", figures}}}};
  const std::string rest =
      "pixels,set_pixels,mean_dice,dice_background,dice_nucleus,tumour_dice,tumour_auc,tumour_f1,"
      "f1_nucleus,tumour_pq,pq_nucleus,ece,brier,cancer,tumour_share\n";
  const std::string values = "5,2,,0.5,,0.25,0.75,0.5,0.5,,,0.1,,true,0.125\n";
  EXPECT_EQ(slides_csv(eval), "id,case,cohort,scanner," + rest + "\"a,\"\"b\"\"\",c,k,s," + values);
  EXPECT_EQ(cases_csv(eval), "case,images," + rest + "c,1," + values);
}

TEST(VolumesCsv, QuotesNamesAndCountsFromTheOperatingScore) {
  const Json eval = {{"classes", {"background", "cyst, \"simple\""}},
                     {"lesion_classes", {"cyst, \"simple\""}},
                     {"lesion_probability", 0.5},
                     {"images",
                      {{{"id", "a,b"},
                        {"case", "c"},
                        {"cohort", "k"},
                        {"scanner", "s"},
                        {"phase", "portal \"late\""},
                        {"voxels", 9},
                        {"mean_dice", nullptr},
                        {"dice", {{"background", 0.5}, {"cyst, \"simple\"", nullptr}}},
                        {"surface_dice", {{"cyst, \"simple\"", 0.25}}},
                        {"hd95", {{"cyst, \"simple\"", nullptr}}},
                        {"structure", {{"cyst, \"simple\"", "missed"}}},
                        {"calibration", {{"ece", 0.1}, {"brier", 0.2}}},
                        {"lesion_voxel", {{"auc", 0.75}}},
                        {"lesions",
                         {{{"hit", true}, {"score", 0.5}},
                          {{"hit", true}, {"score", 0.4}},
                          {{"hit", false}, {"score", nullptr}}}},
                        {"calls",
                         {{{"hit", false}, {"score", 0.75}},
                          {{"hit", false}, {"score", 0.7}},
                          {{"hit", true}, {"score", 0.5}},
                          {{"hit", true}, {"score", 0.4}}}}}}}};
  EXPECT_EQ(volumes_csv(eval),
            "id,case,cohort,scanner,phase,voxels,mean_dice,dice_background,"
            "\"dice_cyst, \"\"simple\"\"\","
            "\"surface_dice_cyst, \"\"simple\"\"\",\"hd95_cyst, \"\"simple\"\"\","
            "\"structure_cyst, \"\"simple\"\"\",ece,brier,auc,lesions,lesions_hit,calls,"
            "false_positives\n"
            "\"a,b\",c,k,s,\"portal \"\"late\"\"\",9,,0.5,,0.25,,missed,0.1,0.2,0.75,3,1,3,2\n");
}

}  // namespace
}  // namespace headrace::train
