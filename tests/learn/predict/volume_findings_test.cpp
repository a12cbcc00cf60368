#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/predict/volume/findings_collector.hpp"
#include "learn/predict/volume/volume_findings.hpp"
#include "learn/predict/volume/voxel_scores.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::predict {
namespace {

using imaging::VolumeGrid;

constexpr std::int64_t kDepth = 6, kHeight = 20, kWidth = 40;
constexpr std::size_t kPixels = kHeight * kWidth, kClasses = 4;
constexpr std::array<double, 9> kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};
// A voxel has 0.5 · 1 · 2 = 1 mm³. Index (x, y, z) lies at (x/2 - 10, y, 2z + 100) mm.
const VolumeGrid kGrid =
    VolumeGrid::of({kDepth, kHeight, kWidth}, {0.5, 1, 2}, {-10, 0, 100}, kUpright);

/// A box of voxels, ends not included.
struct Box {
  std::array<std::int64_t, 3> low, high;
  bool holds(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return z >= low[0] && z < high[0] && y >= low[1] && y < high[1] && x >= low[2] && x < high[2];
  }
};

/// A prediction made of boxes; everything else is background.
struct Prediction {
  std::vector<std::uint8_t> classes = std::vector<std::uint8_t>(kDepth * kPixels, 0);
  std::vector<float> probabilities = std::vector<float>(kDepth * kClasses * kPixels, 0);
  bool body = true;

  Prediction() { put({{0, 0, 0}, {kDepth, kHeight, kWidth}}, {1, 0, 0, 0}); }
  void put(const Box& box, const std::array<float, kClasses>& p) {
    for (std::int64_t z = 0; z < kDepth; ++z) {
      for (std::int64_t y = 0; y < kHeight; ++y) {
        for (std::int64_t x = 0; x < kWidth; ++x) {
          if (!box.holds(z, y, x)) continue;
          const auto i = static_cast<std::size_t>(y * kWidth + x);
          const auto slice = static_cast<std::size_t>(z);
          classes[slice * kPixels + i] =
              static_cast<std::uint8_t>(std::max_element(p.begin(), p.end()) - p.begin());
          for (std::size_t c = 0; c < kClasses; ++c)
            probabilities[(slice * kClasses + c) * kPixels + i] = p[c];
        }
      }
    }
  }
  /// Of slice z: the lesion classes together.
  std::vector<std::uint16_t> scores_of(std::size_t z, const FindingRules& rules) const {
    VoxelScores out;
    score_voxels({probabilities.data() + z * kClasses * kPixels, kClasses * kPixels}, kClasses,
                 rules.lesion_classes, out);
    return out.lesion;
  }
  VolumeFindings findings(const FindingRules& rules, const VolumeGrid& grid = kGrid) const {
    // Body: columns 0 to 28, so its midline is at x 14, which is -3 mm.
    std::vector<std::uint8_t> mask(kPixels, 0);
    for (std::size_t i = 0; i < kPixels; ++i) mask[i] = i % kWidth <= 28;
    FindingsCollector collector(rules, grid);
    for (std::size_t z = 0; z < kDepth; ++z) {
      collector.add({classes.data() + z * kPixels, kPixels}, scores_of(z, rules),
                    body ? std::span<const std::uint8_t>(mask) : std::span<const std::uint8_t>());
    }
    return collector.finish();
  }
};

FindingRules rules_of_lesions() {
  FindingRules rules;
  rules.classes = {"background", "colon", "cancer", "polyp"};
  rules.lesion_classes = {2, 3};
  rules.lesion_lowest = 0.1;
  rules.lesion_min_mm3 = 5;
  rules.operating_point.reason = rules.calibration.reason = "No validation.";
  return rules;
}

FindingRules rules_with_threshold(double threshold) {
  FindingRules rules = rules_of_lesions();
  OperatingPoint point;
  point.threshold = threshold;
  rules.operating_point = OrReason<OperatingPoint>::of(point);
  return rules;
}

/// Colon, a cancer of 60 mm³ with a peak, a polyp of 8 mm³, and a spot of 2 mm³.
Prediction two_lesions() {
  Prediction out;
  out.put({{1, 2, 4}, {5, 6, 8}}, {0.1f, 0.9f, 0, 0});
  out.put({{2, 10, 20}, {4, 13, 30}}, {0.2f, 0, 0.8f, 0});
  out.put({{2, 11, 25}, {3, 12, 26}}, {0.1f, 0, 0.9f, 0});
  out.put({{5, 15, 2}, {6, 17, 6}}, {0.4f, 0, 0.1f, 0.5f});
  out.put({{0, 0, 36}, {1, 1, 38}}, {0.05f, 0, 0.95f, 0});
  return out;
}

TEST(VolumeFindings, MeasureStructures) {
  const Json json = two_lesions().findings(rules_of_lesions()).to_json();
  const Json& colon = json.at("structures").at("colon");
  EXPECT_EQ(colon.at("class_value"), 1);
  EXPECT_EQ(colon.at("voxels"), 64);  // 4 · 4 · 4
  EXPECT_DOUBLE_EQ(colon.at("volume_ml").get<double>(), 0.064);
  EXPECT_EQ(colon.at("first_voxel_zyx"), (Json{1, 2, 4}));
  EXPECT_EQ(colon.at("last_voxel_zyx"), (Json{4, 5, 7}));
  EXPECT_EQ(colon.at("size_mm_zyx"), (Json{8.0, 4.0, 2.0}));
  // Centre at index x 5.5, y 3.5, z 2.5.
  EXPECT_EQ(colon.at("centre_lps_mm"), (Json{-7.25, 3.5, 105.0}));
  EXPECT_EQ(json.at("structures").at("cancer").at("voxels"), 62);  // the spot counts here
  EXPECT_FALSE(json.at("structures").contains("background"));
}

TEST(VolumeFindings, DescribeLesionsByFallingScore) {
  FindingRules rules = rules_of_lesions();
  const std::vector<ValidationLesions::Call> calls{{0.5, false}, {0.7, true}};
  rules.calibration = OrReason<IsotonicCurve>::of(IsotonicCurve::fit(calls));
  const VolumeFindings found = two_lesions().findings(rules);
  ASSERT_EQ(found.lesions.size(), 2u);  // the spot is too small
  const PredictedLesion &cancer = found.lesions[0], &polyp = found.lesions[1];
  EXPECT_NEAR(cancer.score, 0.9, 1e-5);
  EXPECT_EQ(cancer.probability, 1);
  EXPECT_EQ(cancer.class_value, 2);
  EXPECT_DOUBLE_EQ(cancer.extent.volume_ml(kGrid), 0.06);
  // 10 columns of 0.5 mm and 3 rows of 1 mm: 4.5 by 2 mm between centres.
  EXPECT_EQ(cancer.diameter.slice, 2);
  EXPECT_DOUBLE_EQ(cancer.diameter.longest_mm, std::sqrt(24.25));
  EXPECT_DOUBLE_EQ(cancer.diameter.perpendicular_mm, 2 * 4.5 * 2 / std::sqrt(24.25));
  EXPECT_NEAR(polyp.score, 0.6, 1e-5);  // both lesion classes together
  EXPECT_NEAR(*polyp.probability, 0.5, 1e-4);
  EXPECT_EQ(polyp.class_value, 3);
  EXPECT_EQ(polyp.extent.voxels, 8u);
  EXPECT_EQ(polyp.place.text(),
            "upper third of the scanned body, slice 6 of 6 from below, z = 110.0 mm; near the "
            "midline; near the body's centre from front to back");
}

TEST(VolumeFindings, HaveJsonWithPlacesInThePatient) {
  const Json json = two_lesions().findings(rules_of_lesions()).to_json();
  const Json& cancer = json.at("lesions").at(0);
  EXPECT_EQ(cancer.at("class"), "cancer");
  EXPECT_TRUE(cancer.at("probability").is_null());
  EXPECT_EQ(json.at("calibration").at("reason"), "No validation.");
  // Index x 24.5, y 11, z 2.5; the diameter from (20, 10, 2) to (29, 12, 2).
  EXPECT_EQ(cancer.at("centre_lps_mm"), (Json{2.25, 11.0, 105.0}));
  EXPECT_EQ(cancer.at("diameter_end_points_lps_mm"),
            (Json{{0.0, 10.0, 104.0}, {4.5, 12.0, 104.0}}));
  EXPECT_EQ(cancer.at("diameter_end_points_yx"), (Json{{10, 20}, {12, 29}}));
  EXPECT_EQ(cancer.at("diameter_slice_index_z"), 2);
  EXPECT_DOUBLE_EQ(cancer.at("location").at("left_of_middle_mm").get<double>(), 5.25);
  EXPECT_DOUBLE_EQ(cancer.at("location").at("behind_middle_mm").get<double>(), 1.5);
  EXPECT_EQ(json.at("lesion_search").at("classes"), (Json{"cancer", "polyp"}));
}

TEST(VolumeFindings, FlagTheStudyFromTheThresholdOn) {
  const double score = two_lesions().findings(rules_of_lesions()).study_score();
  EXPECT_NEAR(score, 0.9, 1e-5);
  const VolumeFindings at = two_lesions().findings(rules_with_threshold(score));
  EXPECT_EQ(at.positive(), true);
  EXPECT_EQ(at.to_json().at("study").at("flag").at("positive"), true);
  EXPECT_TRUE(at.to_json().at("study").at("reason").is_null());
  const VolumeFindings below = two_lesions().findings(rules_with_threshold(score + 1e-9));
  EXPECT_EQ(below.positive(), false);
  const VolumeFindings unknown = two_lesions().findings(rules_of_lesions());
  EXPECT_FALSE(unknown.positive().has_value());
  EXPECT_TRUE(unknown.to_json().at("study").at("flag").is_null());
  EXPECT_EQ(unknown.to_json().at("study").at("reason"), "No validation.");
}

TEST(VolumeFindings, WithoutLesionsAreNegativeAndEmpty) {
  const VolumeFindings none = Prediction().findings(rules_with_threshold(0.3));
  EXPECT_EQ(none.study_score(), 0);
  EXPECT_EQ(none.positive(), false);
  const Json json = none.to_json();
  EXPECT_EQ(json.at("lesions"), Json::array());
  EXPECT_EQ(json.at("structures").at("colon").at("volume_ml"), 0);
  EXPECT_TRUE(json.at("structures").at("colon").at("centre_lps_mm").is_null());
  const std::string csv = none.lesions_csv("ct-1");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1);
}

TEST(VolumeFindings, OfOtherTasksHaveStructuresOnly) {
  FindingRules rules = rules_of_lesions();
  rules.lesion_classes.clear();
  const Json json = two_lesions().findings(rules).to_json();
  EXPECT_EQ(json.at("structures").at("polyp").at("voxels"), 8);
  for (const char* key : {"lesions", "lesion_search", "calibration", "study"})
    EXPECT_TRUE(json.at(key).is_null()) << key;
}

TEST(VolumeFindings, WithoutBodyAreSeenFromTheImage) {
  Prediction prediction = two_lesions();
  prediction.body = false;
  const Json json = prediction.findings(rules_of_lesions()).to_json();
  const Json& location = json.at("lesions").at(1).at("location");
  EXPECT_EQ(location.at("third_of"), "scan");
  EXPECT_EQ(location.at("middle_of"), "image");
  // Index x 3.5 of a middle at 19.5, y 15.5 of 9.5.
  EXPECT_DOUBLE_EQ(location.at("left_of_middle_mm").get<double>(), -8);
  EXPECT_DOUBLE_EQ(location.at("behind_middle_mm").get<double>(), 6);
}

TEST(VolumeFindings, ALesionThatTheClassMapDoesNotShowHasNoClass) {
  Prediction prediction;
  prediction.put({{1, 3, 3}, {3, 6, 6}}, {0.7f, 0, 0.2f, 0.1f});
  const VolumeFindings found = prediction.findings(rules_of_lesions());
  ASSERT_EQ(found.lesions.size(), 1u);
  EXPECT_FALSE(found.lesions[0].class_value.has_value());
  EXPECT_TRUE(found.to_json().at("lesions").at(0).at("class").is_null());
}

TEST(VolumeFindings, OnATurnedGridAreTheSameAtOtherPlaces) {
  // x runs to the back, y to the right, z up.
  const VolumeGrid turned = VolumeGrid::of({kDepth, kHeight, kWidth}, {0.5, 1, 2}, {5, 6, 7},
                                           {0, -1, 0, 1, 0, 0, 0, 0, 1});
  const VolumeFindings upright = two_lesions().findings(rules_of_lesions()),
                       other = two_lesions().findings(rules_of_lesions(), turned);
  ASSERT_EQ(other.lesions.size(), upright.lesions.size());
  for (std::size_t k = 0; k < other.lesions.size(); ++k) {
    EXPECT_EQ(other.lesions[k].score, upright.lesions[k].score);
    EXPECT_DOUBLE_EQ(other.lesions[k].diameter.longest_mm, upright.lesions[k].diameter.longest_mm);
    EXPECT_DOUBLE_EQ(other.lesions[k].diameter.perpendicular_mm,
                     upright.lesions[k].diameter.perpendicular_mm);
    EXPECT_EQ(other.lesions[k].extent.volume_ml(turned),
              upright.lesions[k].extent.volume_ml(kGrid));
  }
  // Index x 24.5, y 11, z 2.5 again.
  EXPECT_EQ(other.to_json().at("lesions").at(0).at("centre_lps_mm"), (Json{-6.0, 18.25, 12.0}));
}

TEST(VolumeFindings, AreATableToo) {
  const VolumeFindings found = two_lesions().findings(rules_of_lesions());
  const std::string csv = found.lesions_csv("ct \"1\", late");
  const std::string second = csv.substr(csv.find('\n') + 1);
  EXPECT_EQ(second.find("\"ct \"\"1\"\", late\",1,0.9"), 0u) << second;
  EXPECT_NE(second.find(",,cancer,0.06,"), std::string::npos) << second;  // no probability
  EXPECT_NE(second.find(",2,2.25,11.0,105.0,\"middle third of"), std::string::npos) << second;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST(FindingsCollector, TakesVoxelsThatWereNotPredicted) {
  Prediction prediction = two_lesions();
  std::fill_n(prediction.classes.begin(), 3, result::kNotPredicted);
  const Json json = prediction.findings(rules_of_lesions()).to_json();
  EXPECT_EQ(json.at("structures").at("colon").at("voxels"), 64);
}

TEST(FindingsCollector, RefusesWhatDoesNotFit) {
  const Prediction prediction;
  const std::span<const std::uint8_t> classes(prediction.classes.data(), kPixels);
  const std::vector<std::uint16_t> all = prediction.scores_of(0, rules_of_lesions());
  const std::span<const std::uint16_t> scores(all);
  FindingsCollector collector(rules_of_lesions(), kGrid);
  EXPECT_THROW(collector.add(classes.first(kPixels - 1), scores, {}), Error);
  EXPECT_THROW(collector.add(classes, scores.first(kPixels - 1), {}), Error);
  EXPECT_THROW(collector.add(classes, {}, {}), Error);
  EXPECT_THROW(collector.add(classes, scores, classes.first(3)), Error);
  const std::vector<std::uint8_t> wrong(kPixels, kClasses);
  EXPECT_THROW(collector.add(wrong, scores, {}), Error);
  EXPECT_THROW(collector.finish(), Error);  // no slice was taken
  for (std::int64_t z = 0; z < kDepth; ++z) collector.add(classes, scores, {});
  EXPECT_THROW(collector.add(classes, scores, {}), Error);
  EXPECT_TRUE(collector.finish().lesions.empty());
}

}  // namespace
}  // namespace headrace::predict
