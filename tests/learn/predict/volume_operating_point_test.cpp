#include <gtest/gtest.h>

#include <string>

#include "headrace/core/error.hpp"
#include "learn/predict/volume/operating_point.hpp"
#include "learn/predict/volume/validation_lesions.hpp"

namespace headrace::predict {
namespace {

/// An eval.json of three annotated scans and one without annotation. Two lesions are in the first,
/// one in the second, none in the third.
Json evaluation() {
  return parse_json(R"({
    "images": [
      {"voxels": 100, "set_voxels": 0, "lesions": [{}, {}],
       "calls": [{"score": 0.9, "hit": true}, {"score": 0.6, "hit": false},
                 {"score": 0.4, "hit": true}]},
      {"voxels": 0, "set_voxels": 7, "lesions": [{}],
       "calls": [{"score": 0.5, "hit": false}, {"score": 0.2, "hit": true}]},
      {"voxels": 100, "set_voxels": 0, "lesions": [],
       "calls": [{"score": 0.3, "hit": false}, {"score": 0.1, "hit": false}]},
      {"voxels": 0, "set_voxels": 0, "lesions": [], "calls": []}],
    "overall": {"lesion": {"lesions": 3, "scans": 3, "curve": [
      [0, 0.3333333333333333, 0.9], [0.3333333333333333, 0.3333333333333333, 0.6],
      [0.6666666666666666, 0.3333333333333333, 0.5],
      [0.6666666666666666, 0.6666666666666666, 0.4],
      [1.0, 0.6666666666666666, 0.3], [1.0, 1.0, 0.2], [1.3333333333333333, 1.0, 0.1]]}}})",
                    "eval.json");
}

ValidationLesions validation() { return *read_validation_lesions(evaluation(), "eval.json").value; }

TEST(ValidationLesions, AreTheCallsOfAnnotatedScans) {
  const ValidationLesions read = validation();
  EXPECT_EQ(read.lesions, 3u);
  EXPECT_EQ(read.calls.size(), 7u);
  ASSERT_EQ(read.scans.size(), 3u);
  EXPECT_EQ(read.scans[0].lesions, 2u);
  EXPECT_EQ(read.scans[0].highest, 0.9);
  EXPECT_EQ(read.scans[1].highest, 0.5);
  EXPECT_EQ(read.scans[2].lesions, 0u);
  EXPECT_EQ(read.curve.size(), 7u);
}

TEST(OperatingPoint, IsTheLowestScoreWithFewEnoughFalsePositives) {
  const OperatingPoint one = *operating_point(validation()).value;
  EXPECT_EQ(one.threshold, 0.2);  // exactly one a scan is allowed
  EXPECT_EQ(one.false_positives_per_scan, 1);
  EXPECT_EQ(one.sensitivity, 1);
  EXPECT_EQ(one.scans, 3u);
  EXPECT_EQ(one.lesions, 3u);
  EXPECT_EQ(one.scan_sensitivity, 1);
  EXPECT_EQ(one.scan_specificity, 0);  // the scan without lesions has a call of 0.3
  const OperatingPoint half = *operating_point(validation(), 0.5).value;
  EXPECT_EQ(half.threshold, 0.6);
  EXPECT_EQ(half.sensitivity, 1.0 / 3);
  EXPECT_EQ(half.scan_sensitivity, 0.5);  // the second scan's highest call is 0.5
  EXPECT_EQ(half.scan_specificity, 1);
  EXPECT_EQ(operating_point(validation(), 4).value->threshold, 0.1);
}

TEST(OperatingPoint, IsNoneWhereEvenTheHighestScoreHasTooMany) {
  ValidationLesions read = validation();
  read.curve.erase(read.curve.begin());
  const auto none = operating_point(read, 0.25);
  EXPECT_FALSE(none.value);
  EXPECT_NE(none.reason.find("even the highest score has more than 0.25 false positives a scan"),
            std::string::npos)
      << none.reason;
  read.curve.clear();
  EXPECT_EQ(operating_point(read).reason, "The run's validation has no call.");
}

TEST(ValidationLesions, SayWhyTheyTellNothing) {
  Json without = evaluation();
  without["overall"].erase("lesion");
  EXPECT_EQ(read_validation_lesions(without, "eval.json").reason,
            "The run's validation did not search for lesions.");
  Json healthy = evaluation();
  healthy["overall"]["lesion"]["lesions"] = 0;
  EXPECT_EQ(read_validation_lesions(healthy, "eval.json").reason,
            "The run's validation has no annotated lesion.");
}

TEST(ValidationLesions, RefuseAnEvaluationWithoutItsKeys) {
  Json broken = evaluation();
  broken["images"][1]["calls"][0].erase("hit");
  try {
    read_validation_lesions(broken, "run/eval.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed);
    EXPECT_NE(std::string(error.what()).find("run/eval.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace::predict
