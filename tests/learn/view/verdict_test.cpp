#include "learn/view/review/verdict.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::view {
namespace {

const std::vector<std::string> kClasses{"background", "pattern3", "pattern4"};

TEST(Verdict, ComesBackAsItWasStored) {
  const Json json{{"verdict", "reclass"},
                  {"class", "pattern3"},
                  {"outline", {{{1.5, 2}, {1, 20}, {30, 4}}}},
                  {"comment", "glands fuse"}};
  Verdict verdict = Verdict::from_json(json, kClasses);
  EXPECT_EQ(verdict.kind, VerdictKind::reclass);
  ASSERT_EQ(verdict.outline.size(), 1U);
  EXPECT_EQ(verdict.outline[0][0], (std::array<double, 2>{2, 1.5}));  // (x, y)
  verdict.reviewer = "mm";
  verdict.time = "2026-01-02T03:04:05Z";
  const Json stored = verdict.to_json();
  EXPECT_EQ(stored["outline"], json["outline"]);
  EXPECT_EQ(Verdict::from_json(stored, kClasses).to_json(), stored);
}

TEST(Verdict, WhatDoesNotFitIsRefused) {
  for (const char* text :
       {"[]", "{}", R"({"verdict": "maybe"})", R"({"verdict": 1})", R"({"verdict": "reclass"})",
        R"({"verdict": "reclass", "class": "pattern5"})",
        R"({"verdict": "accept", "outline": [[[0, 0], [1, 1]]]})",
        R"({"verdict": "accept", "outline": [[[0, 0], [1, 1], [2]]]})",
        R"({"verdict": "accept", "outline": [[[0, 0], [1, 1], ["a", 2]]]})",
        R"({"verdict": "accept", "outline": [[[0, 0], [1, 1], [1e300, 2]]]})",
        R"({"verdict": "accept", "outline": [5]})", R"({"verdict": "accept", "comment": 5})"}) {
    EXPECT_THROW(Verdict::from_json(parse_json(text, "test"), kClasses), Error) << text;
  }
  EXPECT_EQ(Verdict::from_json({{"verdict", "reject"}}, kClasses).kind, VerdictKind::reject);
}

}  // namespace
}  // namespace headrace::view
