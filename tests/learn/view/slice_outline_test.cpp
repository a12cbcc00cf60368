#include "learn/view/review/slice_outline.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::view {
namespace {

const std::vector<std::string> kClasses{"background", "liver", "tumour"};

Json triangle(const char* name) {
  return {{"class", name}, {"rings", {{{1.5, 2}, {1, 20}, {30, 4}}}}};
}

TEST(SliceOutline, ComesBackAsItWasStored) {
  SliceOutline outline = SliceOutline::from_json(triangle("tumour"), kClasses);
  ASSERT_EQ(outline.rings.size(), 1U);
  EXPECT_EQ(outline.rings[0][0], (std::array<double, 2>{2, 1.5}));  // (x, y)
  outline.reviewer = "mm";
  outline.time = "2026-01-02T03:04:05Z";
  const Json stored = json_of_slices({{12, {outline, outline}}, {13, {}}});
  ASSERT_EQ(stored.size(), 1U);  // a slice without outlines is left out
  EXPECT_EQ(stored["12"][0]["rings"], triangle("tumour")["rings"]);
  EXPECT_EQ(json_of_slices(slices_of_json(stored, kClasses)), stored);
}

TEST(SliceOutline, IsTheSameAreaWhoeverDrewIt) {
  SliceOutline outline = SliceOutline::from_json(triangle("tumour"), kClasses), other = outline;
  other.reviewer = "mm";
  EXPECT_TRUE(outline.same_area(other));
  EXPECT_FALSE(outline.same_area(SliceOutline::from_json(triangle("liver"), kClasses)));
  other.rings[0][0][0] += 0.01;
  EXPECT_FALSE(outline.same_area(other));
}

TEST(SliceOutline, WhatDoesNotFitIsRefused) {
  for (const char* text :
       {"[]", "{}", R"({"class": "tumour"})", R"({"class": "tumour", "rings": []})",
        R"({"class": "tumour", "rings": [[[0, 0], [1, 1]]]})",
        R"({"class": "tumour", "rings": [[[0, 0], [1, 1], [2]]]})",
        R"({"class": "tumour", "rings": 5})",
        R"({"class": 1, "rings": [[[0, 0], [1, 1], [2, 0]]]})",
        R"({"class": "bone", "rings": [[[0, 0], [1, 1], [2, 0]]]})",
        R"({"rings": [[[0, 0], [1, 1], [2, 0]]]})"}) {
    EXPECT_THROW(SliceOutline::from_json(parse_json(text, "test"), kClasses), Error) << text;
  }
  EXPECT_THROW(outlines_of_json(Json::object(), kClasses), Error);
  EXPECT_THROW(slices_of_json({{"-1", Json::array()}}, kClasses), Error);
}

}  // namespace
}  // namespace headrace::view
