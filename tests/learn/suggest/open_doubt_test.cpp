#include "learn/suggest/open_doubt.hpp"

#include <gtest/gtest.h>

#include "learn/result/result_writer.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::suggest {
namespace {

using imaging::TempFolder;

/// A prediction of one pixel with these findings.
result::ImageResult with(const std::filesystem::path& folder, const Json& findings, bool volume) {
  result::ImageFacts facts;
  facts.id = facts.case_id = "s";
  facts.classes = {"background", "tumour"};
  facts.networks = {{"run", "final", "aa", "bb", "cc", "0.1.0"}};
  if (volume) {
    facts.volume.emplace();
    facts.volume->grid.shape_zyx = {1, 1, 1};
  } else {
    facts.slide = result::SlideMap{1, 1, 2.0, {8, 8}, 8, 8};
  }
  result::ResultWriter writer(folder, facts);
  writer.add(std::vector<std::uint8_t>{0}, std::vector<std::uint8_t>{255, 0});
  writer.finish(findings);
  return result::ImageResult::open(folder);
}

Json equivocal(int number, double doubt, int pixels, const Json& changes) {
  return {{"number", number},
          {"doubt", doubt},
          {"pixels", pixels},
          {"class", "pattern3"},
          {"second_class", "pattern4"},
          {"changes_grade_group", changes},
          {"second_grade_group", changes == true ? Json(3) : Json(2)}};
}

Json slide_with(const Json& list, int tumour_px) {
  return {{"slide",
           {{"equivocal", {{"list", list}, {"count", list.size()}}},
            {"tumour", {{"pixels", tumour_px}}},
            {"grade", {{"grade_group", 2}}}}},
          {"quality", Json::array()}};
}

TEST(OpenDoubt, OfASlideIsTheDoubtfulPartOfItsTumour) {
  const TempFolder folder;
  const Json list{equivocal(7, 0.8, 50, false), equivocal(2, 0.7, 20, nullptr)};
  const OpenDoubt open = open_doubt(with(folder / "s", slide_with(list, 200), false));
  EXPECT_DOUBLE_EQ(open.value, (0.8 * 50 + 0.7 * 20) / 200);
  EXPECT_EQ(open.places, (std::vector<std::uint64_t>{7, 2}));
  EXPECT_EQ(open.why, "2 regions are equivocal, first of all 7 (pattern3 or pattern4)");
}

TEST(OpenDoubt, ARegionOnWhichTheGradeHangsCountsWhateverItsArea) {
  const TempFolder folder;
  const Json list{equivocal(12, 0.7, 1, true), equivocal(3, 0.9, 2, true)};
  const OpenDoubt open = open_doubt(with(folder / "s", slide_with(list, 1000), false));
  EXPECT_DOUBLE_EQ(open.value, 0.9);
  EXPECT_EQ(open.why,
            "its grade group would change from 2 to 3 with region 3 (pattern3 or pattern4)");
}

TEST(OpenDoubt, NamesFiveRegionsAtMost) {
  const TempFolder folder;
  Json list = Json::array();
  for (int k = 1; k <= 9; ++k) list.push_back(equivocal(k, 0.7, 10, false));
  EXPECT_EQ(open_doubt(with(folder / "s", slide_with(list, 100), false)).places.size(), 5u);
}

TEST(OpenDoubt, WithoutTumourNothingIsOpen) {
  const TempFolder folder;
  const OpenDoubt open = open_doubt(with(folder / "s", slide_with(Json::array(), 0), false));
  EXPECT_EQ(open.value, 0);
  EXPECT_TRUE(open.why.empty() && open.places.empty());
}

Json volume_with(const std::vector<double>& scores, const Json& threshold) {
  Json lesions = Json::array();
  for (const double score : scores) lesions.push_back({{"score", score}});
  Json flag = nullptr;
  if (!threshold.is_null()) flag = {{"operating_point", {{"threshold", threshold}}}};
  return {{"volume", {{"lesions", lesions}, {"study", {{"flag", flag}}}}},
          {"quality", Json::array()}};
}

TEST(OpenDoubt, OfAScanIsTheNearestScoreToTheOperatingPoint) {
  const TempFolder folder;
  const OpenDoubt open = open_doubt(with(folder / "v", volume_with({0.9, 0.74, 0.1}, 0.8), true));
  EXPECT_NEAR(open.value, 1 - 0.06 / 0.8, 1e-12);
  EXPECT_EQ(open.places, (std::vector<std::uint64_t>{2, 1}));  // 0.1 is far off
  EXPECT_EQ(open.why, "lesion 2 (score 0.74) lies near the operating point 0.80");
}

TEST(OpenDoubt, WithoutAnOperatingPointTheMiddleOfTheScaleStandsForIt) {
  const TempFolder folder;
  const OpenDoubt open = open_doubt(with(folder / "v", volume_with({0.6}, nullptr), true));
  EXPECT_NEAR(open.value, 0.8, 1e-12);
  EXPECT_NE(open.why.find("there being no operating point"), std::string::npos);
  EXPECT_EQ(open_doubt(with(folder / "w", volume_with({}, 0.8), true)).value, 0);
  Json none = volume_with({}, nullptr);
  none["volume"]["lesions"] = none["volume"]["study"] = nullptr;
  EXPECT_EQ(open_doubt(with(folder / "x", none, true)).value, 0);
}

TEST(OpenDoubt, OtherFactsAndWhatIsNoFinding) {
  const TempFolder folder;
  Json findings = slide_with(Json::array(), 0);
  findings["ensemble"] = {{"runs", 2}, {"disputed_share", 0.25}};
  findings["quality"] = {{{"code", "blurred"}, {"severity", "warning"}},
                         {{"code", "pen-marks"}, {"severity", "note"}}};
  const auto image = with(folder / "s", findings, false);
  EXPECT_EQ(disputed_share(image), 0.25);
  EXPECT_EQ(warnings_of(image), std::vector<std::string>{"blurred"});
  const auto broken = with(folder / "t", {{"slide", Json::object()}}, false);
  EXPECT_NE(error_of(ErrorCode::malformed, [&] { open_doubt(broken); })
                .find("not the findings of a prediction"),
            std::string::npos);
  EXPECT_FALSE(disputed_share(broken).has_value());
}

}  // namespace
}  // namespace headrace::suggest
