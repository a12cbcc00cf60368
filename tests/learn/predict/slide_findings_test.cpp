#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/predict/slide/pixel_scores.hpp"
#include "learn/predict/slide/slide_findings_builder.hpp"
#include "learn/predict/slide/slide_findings_json.hpp"

namespace headrace::predict {
namespace {

/// Letters of a map: '.' not predicted, '0' to '3' a certain class, 'a' class 2 with 0.4, 0.2, 0.4
/// of classes 1, 3 and 2 (51 and 102 of 255).
using Picture = std::vector<std::string>;
const std::vector<std::string> kClasses{"background", "benign", "pattern3", "pattern4"};

SlideFacts facts_of(const Picture& picture, double mpp) {
  SlideFacts facts;
  facts.map.height = static_cast<std::int64_t>(picture.size());
  facts.map.width = static_cast<std::int64_t>(picture.front().size());
  facts.map.mpp = mpp;
  facts.map.level0_px_yx = {4, 2};
  facts.rule.classes = kClasses;
  facts.rule.tumour = {false, false, true, true};
  facts.rule.gleason = true;
  facts.rule.patterns = measure::find_gleason_classes(kClasses);
  facts.options.min_region_mm2 = 0.02;
  facts.options.min_region_px = 2;
  facts.options.piece_gap_px = 1;
  return facts;
}

void add_rows(const Picture& picture, std::size_t classes, SlideFindingsBuilder& builder) {
  for (std::size_t y = 0; y < picture.size(); ++y) {
    const std::size_t width = picture[y].size();
    std::vector<std::uint8_t> predicted(width, result::kNotPredicted);
    std::vector<float> probabilities(classes * width);
    for (std::size_t x = 0; x < width; ++x) {
      const char letter = picture[y][x];
      if (letter == '.') continue;
      predicted[x] = static_cast<std::uint8_t>(letter == 'a' ? 2 : letter - '0');
      if (letter == 'a') {
        probabilities[width + x] = 0.4f;
        probabilities[2 * width + x] = 0.4f;
        probabilities[3 * width + x] = 0.2f;
      } else {
        probabilities[predicted[x] * width + x] = 1;
      }
    }
    std::vector<std::uint8_t> scores((classes + 1) * width);
    PixelScores(classes).of(probabilities, scores);
    builder.add(predicted, scores);
  }
}

SlideFindings find(const Picture& picture, const SlideFacts& facts) {
  SlideFindingsBuilder builder(facts);
  add_rows(picture, facts.classes(), builder);
  return builder.finish();
}

// Pixels of 100 µm are 0.01 mm². Cells of 0.2 mm are 2 x 2 pixels.
const Picture kSlide{"......1111",  //
                     "22a0..1.11",  //
                     "2aa...1111",  //
                     "33....3...",  //
                     "33........"};

TEST(SlideFindings, AreasAndShares) {
  const Json json = to_json(find(kSlide, facts_of(kSlide, 100)));
  EXPECT_EQ(json["classes"]["background"], Json::parse(R"({"pixels": 1, "area_mm2": 0.01,
      "share_of_tissue": null})"));
  EXPECT_EQ(json["classes"]["benign"], Json::parse(R"({"pixels": 11, "area_mm2": 0.11,
      "share_of_tissue": 0.5})"));
  EXPECT_EQ(json["predicted"], Json::parse(R"({"pixels": 23, "area_mm2": 0.23})"));
  EXPECT_EQ(json["tissue"], Json::parse(R"({"pixels": 22, "area_mm2": 0.22})"));
  EXPECT_EQ(json["tumour"]["pixels"], 11);
  EXPECT_EQ(json["tumour"]["share_of_tissue"], 0.5);
  EXPECT_EQ(json["tumour"]["classes"], Json({"pattern3", "pattern4"}));
}

TEST(SlideFindings, Grade) {
  // 6 pixels of pattern 3, 5 of pattern 4: 3+4.
  const Json json = to_json(find(kSlide, facts_of(kSlide, 100)));
  EXPECT_EQ(json["grade"], Json::parse(R"({"cancer": true, "primary": 3, "secondary": 4,
      "tertiary": null, "grade_group": 2,
      "percent_of_cancer": {"pattern3": 54.55, "pattern4": 45.45}})"));
}

TEST(SlideFindings, Regions) {
  const SlideFindings found = find(kSlide, facts_of(kSlide, 100));
  // The stray pixel of pattern 4 is below 2 pixels.
  EXPECT_EQ(found.small_regions.count, 1u);
  EXPECT_EQ(found.small_regions.pixels, 1u);
  const Json list = to_json(found)["regions"]["list"];
  ASSERT_EQ(list.size(), 3u);
  // Of those that end in row 2, that with the first pixel in row 0 comes first.
  EXPECT_EQ(list[0]["class"], "benign");
  EXPECT_EQ(list[0]["pixels"], 11);
  // Level 0 has 4 rows and 2 columns for a pixel. Columns 0, 1, 2 of row 1 and of row 2.
  EXPECT_EQ(list[1], Json::parse(R"({"number": 2, "class": "pattern3", "tumour": true,
      "pixels": 6, "area_mm2": 0.06, "centroid_level0_yx": [8.0, 3.0],
      "box_level0_yxyx": [4.0, 0.0, 12.0, 6.0],
      "mean_probability": {"background": 0.0, "benign": 0.2, "pattern3": 0.7, "pattern4": 0.1},
      "mean_entropy": 0.3804})"));
  EXPECT_EQ(list[2]["class"], "pattern4");
  EXPECT_EQ(list[2]["mean_entropy"], 0.0);
}

TEST(SlideFindings, BoxEndsWithTheSlide) {
  SlideFacts facts = facts_of(kSlide, 100);
  facts.map.level0_height = 19;
  facts.map.level0_width = 20;
  const Json json = to_json(find(kSlide, facts));
  EXPECT_EQ(json["regions"]["list"][2]["box_level0_yxyx"], Json({12.0, 0.0, 19.0, 4.0}));
}

TEST(SlideFindings, PiecesAndLength) {
  const SlideFindings found = find(kSlide, facts_of(kSlide, 100));
  // The focus on the left reaches from (1, 0) to (5, 3) or from (1, 3) to (5, 0): 4² + 3². The
  // stray pixel on the right is no focus.
  ASSERT_EQ(found.pieces.size(), 2u);
  EXPECT_EQ(found.pieces[0].tissue_px, 10u);
  EXPECT_EQ(found.pieces[0].squared_length_px, 25u);
  EXPECT_EQ(found.pieces[1].tissue_px, 12u);
  EXPECT_EQ(found.pieces[1].tumour_px, 1u);
  EXPECT_EQ(found.pieces[1].squared_length_px, 0u);
  const Json json = to_json(found);
  EXPECT_EQ(json["tumour"]["foci"], 1);
  EXPECT_EQ(json["tumour"]["length_mm"], 0.5);
  EXPECT_EQ(json["tumour"]["longest_mm"], 0.5);
  EXPECT_EQ(json["tissue_pieces"]["list"][0]["tumour_length_mm"], 0.5);
  EXPECT_EQ(json["tissue_pieces"]["cell_px"], 2);
}

TEST(SlideFindings, LengthsOfPiecesAddUp) {
  const Picture picture{"222...2222", "2222......"};
  const SlideFindings found = find(picture, facts_of(picture, 0));
  ASSERT_EQ(found.pieces.size(), 2u);
  // 2 x 4 and 1 x 4 pixels.
  EXPECT_DOUBLE_EQ(found.tumour_length_px(), std::sqrt(20.0) + std::sqrt(17.0));
  EXPECT_DOUBLE_EQ(found.longest_tumour_px(), std::sqrt(20.0));
}

TEST(SlideFindings, EquivocalRegionIsToldInTheJson) {
  const Picture picture{"aaa.33", "aaa.22"};
  const Json json = to_json(find(picture, facts_of(picture, 100)));
  // 8 of pattern 3 and 2 of 4: 3+4. Without the doubtful region (0.6 tumour, 0.4 benign) there are
  // 2 of each, and of equals the higher leads: 4+3.
  EXPECT_EQ(json["equivocal"]["count"], 1);
  const Json& first = json["equivocal"]["list"][0];
  EXPECT_EQ(first["class"], "pattern3");
  EXPECT_EQ(first["about"], "tumour");
  EXPECT_EQ(first["second_class"], "benign");
  EXPECT_EQ(first["doubt"], 0.8);
  EXPECT_EQ(first["second_grade_group"], 3);
  EXPECT_EQ(first["why"],
            "tumour (0.60) or not (0.40, most likely benign), 0.06 mm²; as benign the grade group "
            "would be 3 instead of 2");
}

TEST(SlideFindings, Table) {
  const std::string csv = regions_csv(find(kSlide, facts_of(kSlide, 100)));
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "number,class,tumour,pixels,area_mm2,centroid_level0_y,centroid_level0_x,"
            "box_level0_y0,box_level0_x0,box_level0_y1,box_level0_x1,mean_probability_background,"
            "mean_probability_benign,mean_probability_pattern3,mean_probability_pattern4,"
            "mean_entropy,equivocal_rank");
  EXPECT_NE(csv.find("\n2,pattern3,true,6,0.06,8.0,3.0,4.0,0.0,12.0,6.0,0.0,0.2,0.7,0.1,0.3804,"),
            std::string::npos);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
}

TEST(SlideFindings, NamesInTheTableAreQuoted) {
  SlideFacts facts = facts_of({"11"}, 0);
  facts.rule.classes = {"background", "a \"b\", c"};
  facts.rule.tumour = {false, true};
  facts.rule.gleason = false;
  const std::string csv = regions_csv(find({"11"}, facts));
  EXPECT_NE(csv.find("\n1,\"a \"\"b\"\", c\",true,2,,"), std::string::npos) << csv;
}

TEST(SlideFindings, WithoutMpp) {
  const Json json = to_json(find(kSlide, facts_of(kSlide, 0)));
  EXPECT_EQ(json["tissue"], Json::parse(R"({"pixels": 22, "area_mm2": null})"));
  EXPECT_TRUE(json["tumour"]["length_mm"].is_null());
  EXPECT_EQ(json["tumour"]["length_px"], 5.0);
  EXPECT_TRUE(json["regions"]["least_area_mm2"].is_null());
  EXPECT_EQ(json["regions"]["least_pixels"], 2);
  EXPECT_TRUE(json["regions"]["list"][0]["area_mm2"].is_null());
  EXPECT_EQ(json["grade"]["grade_group"], 2);
}

TEST(SlideFindings, NoTissue) {
  const Picture glass{"....", ".00."};
  SlideFacts facts = facts_of(glass, 100);
  for (const bool rows : {true, false}) {
    SlideFindingsBuilder builder(facts);
    if (rows) add_rows(glass, 4, builder);
    const Json json = to_json(builder.finish());
    EXPECT_EQ(json["predicted"]["pixels"], rows ? 2 : 0);
    EXPECT_TRUE(json["tumour"]["share_of_tissue"].is_null());
    EXPECT_EQ(json["tumour"]["length_mm"], 0.0);
    EXPECT_EQ(json["grade"], Json::parse(R"({"cancer": false, "primary": null, "secondary": null,
        "tertiary": null, "grade_group": 0,
        "percent_of_cancer": {"pattern3": null, "pattern4": null}})"));
    EXPECT_TRUE(json["regions"]["list"].empty());
    EXPECT_TRUE(json["tissue_pieces"]["list"].empty());
    EXPECT_TRUE(json["equivocal"]["list"].empty());
  }
}

TEST(SlideFindings, OneClass) {
  SlideFacts facts = facts_of({"00"}, 1);
  facts.rule.classes = {"background"};
  facts.rule.tumour = {false};
  facts.rule.gleason = false;
  const SlideFindings found = find({"00"}, facts);
  const Json json = to_json(found);
  EXPECT_TRUE(json["grade"].is_null());
  EXPECT_EQ(json["classes"]["background"]["pixels"], 2);
  EXPECT_EQ(json["tumour"]["classes"], Json::array());
}

TEST(SlideFindings, OtherTasksHaveNoGrade) {
  SlideFacts facts = facts_of(kSlide, 100);
  facts.rule.gleason = false;
  facts.rule.tumour[1] = true;
  const Json json = to_json(find(kSlide, facts));
  EXPECT_TRUE(json["grade"].is_null());
  EXPECT_EQ(json["tumour"]["pixels"], 22);
}

TEST(SlideFindings, WithoutAClassForOtherTissueThereIsNoShareOfIt) {
  // What is not tumour on the slide is class 0, which may be tissue or glass.
  SlideFacts facts = facts_of(kSlide, 100);
  facts.rule.tumour[1] = true;
  const SlideFindings found = find(kSlide, facts);
  EXPECT_EQ(found.areas.tissue_px(facts.rule), std::nullopt);
  const CaseFindings together = case_findings(std::vector{found.areas, found.areas}, facts.rule);
  const Json unknown = Json::parse(R"({"pixels": null, "area_mm2": null})");
  for (const Json& json : {to_json(found), to_json(together)}) {
    const int slides = json.value("slides", 1);
    EXPECT_EQ(json["predicted"]["pixels"], 23 * slides);
    EXPECT_EQ(json["tissue"], unknown);
    EXPECT_EQ(json["tumour"]["pixels"], 22 * slides);
    EXPECT_TRUE(json["tumour"]["share_of_tissue"].is_null());
    for (const std::string& name : kClasses)
      EXPECT_TRUE(json["classes"][name]["share_of_tissue"].is_null()) << name;
  }
  const Json pieces = to_json(found)["tissue_pieces"]["list"];
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_TRUE(pieces[0]["tissue_pixels"].is_null());
  EXPECT_TRUE(pieces[0]["tissue_area_mm2"].is_null());
  EXPECT_EQ(pieces[0]["tumour_pixels"], 10);
  EXPECT_EQ(pieces[0]["tumour_area_mm2"], 0.1);
}

TEST(SlideFindings, OtherRowsAreErrors) {
  SlideFindingsBuilder builder(facts_of({"00"}, 1));
  const std::vector<std::uint8_t> row{0, 0}, wrong{0, 4};
  const std::vector<std::uint8_t> scores(10);
  EXPECT_THROW(builder.add(wrong, scores), Error);
  EXPECT_THROW(builder.add(row, std::span(scores).first(8)), Error);
  EXPECT_THROW(builder.add(std::span(row).first(1), scores), Error);
  builder.add(row, scores);
  EXPECT_THROW(builder.add(row, scores), Error);  // the slide has one row
}

TEST(SlideFacts, LeastRegionAndCells) {
  SlideFacts facts;
  EXPECT_EQ(facts.least_region_px(), 16u);
  EXPECT_EQ(facts.piece_cell_px(), 16);
  facts.map.mpp = 1;
  EXPECT_EQ(facts.least_region_px(), 5000u);
  EXPECT_EQ(facts.piece_cell_px(), 200);
  facts.map.mpp = 0.5;
  EXPECT_EQ(facts.least_region_px(), 20000u);
  facts.map.mpp = 3;  // 555.6 pixels
  EXPECT_EQ(facts.least_region_px(), 556u);
  facts.map.mpp = 1000;
  EXPECT_EQ(facts.least_region_px(), 1u);
  EXPECT_EQ(facts.piece_cell_px(), 1);
}

TEST(SlideFacts, ShownArea) {
  SlideFacts facts;
  EXPECT_EQ(facts.shown_area(5000), "5000 pixels");
  facts.map.mpp = 10;  // 0.0001 mm² a pixel
  EXPECT_EQ(facts.shown_area(8125), "0.81 mm²");
  EXPECT_EQ(facts.shown_area(81250), "8.1 mm²");
}

TEST(CaseFindings, GradedFromTheAreasOfAllSlides) {
  const auto rule = facts_of({"0"}, 1).rule;
  // Alone 3+3 and 4+4; together 300 of pattern 3 and 700 of 4: 4+3.
  const ClassAreas first{{10, 90, 300, 0}, {0.1, 0.9, 3, 0}};
  const ClassAreas second{{0, 0, 0, 700}, {0, 0, 0, 7}};
  EXPECT_EQ(cancer_grade(first.px, rule)->grade.grade_group, 1);
  EXPECT_EQ(cancer_grade(second.px, rule)->grade.grade_group, 4);
  const Json json = to_json(case_findings(std::vector{first, second}, rule));
  EXPECT_EQ(json["slides"], 2);
  EXPECT_EQ(json["grade"]["grade_group"], 3);
  EXPECT_EQ(json["grade"]["percent_of_cancer"]["pattern4"], 70.0);
  EXPECT_EQ(json["tumour"]["area_mm2"], 10.0);
  const ClassAreas unknown{{0, 0, 0, 1}, {}};
  EXPECT_TRUE(
      to_json(case_findings(std::vector{first, unknown}, rule))["tissue"]["area_mm2"].is_null());
  EXPECT_FALSE(case_findings({}, rule).grade->cancer());
}

}  // namespace
}  // namespace headrace::predict
