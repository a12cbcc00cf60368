#include "learn/measure/slide/gleason_grade.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::measure {
namespace {

const std::vector<std::string> kNames{"background", "benign",   "hgpin",
                                      "pattern3",   "pattern4", "pattern5"};

const GradingRule kBiopsy{};
const GradingRule kProstatectomy{false};

/// Areas of patterns 3, 4 and 5 beside `benign`.
GleasonGrade grade(std::uint64_t benign, std::uint64_t p3, std::uint64_t p4, std::uint64_t p5,
                   const GradingRule& rule = kBiopsy) {
  return grade_from_areas({1'000'000, benign, 0, p3, p4, p5}, find_gleason_classes(kNames), rule);
}

TEST(IsupGradeGroup, FollowsTheTable) {
  const int groups[3][3] = {{1, 2, 4}, {3, 4, 5}, {4, 5, 5}};  // primary, secondary: 3, 4, 5
  for (int p = 3; p <= 5; ++p) {
    for (int s = 3; s <= 5; ++s)
      EXPECT_EQ(isup_grade_group(p, s), groups[p - 3][s - 3]) << p << "+" << s;
  }
  EXPECT_EQ(isup_grade_group(0, 0), 0);
  EXPECT_THROW(isup_grade_group(2, 3), Error);
  EXPECT_THROW(isup_grade_group(3, 0), Error);
}

/// Per mille of patterns 3, 4 and 5, and what the published rules make of them.
struct Published {
  std::array<std::uint64_t, 3> per_mille;
  GleasonGrade biopsy, prostatectomy;
  const char* why;
};
// 2014: Epstein, Am J Surg Pathol 40, 2016 (biopsies as agreed in 2005: the most common and the
// highest pattern, a lower one below 5 % left out). 2017: Epstein, Am J Surg Pathol 41, 2017.
// PANDA: the example on the challenge's data page. TP: Practice Patterns in Reporting Tertiary
// Grades, Arch Pathol Lab Med 144, 2020.
const std::vector<Published> kPublished{
    {{1000, 0, 0}, {3, 3, 1}, {3, 3, 1}, "one pattern is doubled"},
    {{0, 1000, 0}, {4, 4, 4}, {4, 4, 4}, "one pattern is doubled"},
    {{0, 0, 1000}, {5, 5, 5}, {5, 5, 5}, "one pattern is doubled"},
    {{700, 300, 0}, {3, 4, 2}, {3, 4, 2}, "two patterns"},
    {{300, 700, 0}, {4, 3, 3}, {4, 3, 3}, "two patterns"},
    {{0, 400, 600}, {5, 4, 5}, {5, 4, 5}, "two patterns"},
    {{0, 600, 400}, {4, 5, 5}, {4, 5, 5}, "two patterns"},
    {{600, 0, 400}, {3, 5, 4}, {3, 5, 4}, "two patterns; GUPS keeps 3+5 in group 4"},
    {{370, 600, 30}, {4, 5, 5}, {4, 3, 3, 5}, "PANDA: 4+5; prostatectomy 4+3 with tertiary 5 (TP)"},
    {{600, 370, 30}, {3, 5, 4}, {3, 4, 2, 5}, "the highest counts; 3+4 with tertiary 5 (TP)"},
    {{500, 300, 200}, {3, 5, 4}, {3, 5, 4}, "third, but no minor one: 3+5 by most in TP"},
    {{300, 500, 200}, {4, 5, 5}, {4, 5, 5}, "third, but no minor one: 4+5 by most in TP"},
    {{40, 960, 0}, {4, 4, 4}, {4, 4, 4}, "PANDA, 2005: below 5 % a lower pattern is left out"},
    {{50, 950, 0}, {4, 3, 3}, {4, 3, 3}, "from 5 % on it counts"},
    {{960, 40, 0}, {3, 4, 2}, {3, 3, 1, 4}, "a higher pattern in any amount; else tertiary"},
    {{950, 50, 0}, {3, 4, 2}, {3, 4, 2}, "from 5 % on it is no minor one"},
    {{0, 970, 30}, {4, 5, 5}, {4, 4, 4, 5}, "a higher pattern in any amount; else tertiary"},
    {{0, 40, 960}, {5, 5, 5}, {5, 5, 5}, "a lower pattern below 5 %"},
    {{200, 300, 500}, {5, 4, 5}, {5, 4, 5}, "the highest of two lower ones"},
    {{60, 40, 900}, {5, 3, 4}, {5, 3, 4}, "of two lower ones only what fills 5 %"},
    {{940, 35, 25}, {3, 5, 4}, {3, 3, 1, 5}, "two minor ones: the higher is the tertiary"},
    {{995, 5, 0}, {3, 3, 1}, {3, 3, 1, 4}, "below the noise floor of 1 %"},
    {{990, 10, 0}, {3, 4, 2}, {3, 3, 1, 4}, "at the noise floor"},
};

TEST(GradeFromAreas, PublishedRules) {
  for (const Published& row : kPublished) {
    const auto [p3, p4, p5] = row.per_mille;
    EXPECT_EQ(grade(500, p3, p4, p5, kBiopsy), row.biopsy)
        << p3 << " " << p4 << " " << p5 << ": " << row.why;
    EXPECT_EQ(grade(500, p3, p4, p5, kProstatectomy), row.prostatectomy)
        << p3 << " " << p4 << " " << p5 << ": " << row.why;
  }
}

TEST(GradeFromAreas, LittleCancerIsNone) {
  EXPECT_EQ(grade(981, 19, 0, 0), (GleasonGrade{0, 0, 0}));
  EXPECT_EQ(grade(980, 20, 0, 0), (GleasonGrade{3, 3, 1}));
  EXPECT_EQ(grade(0, 0, 0, 0), (GleasonGrade{0, 0, 0}));
}

TEST(GradeFromAreas, OfEqualsTheHigherLeads) {
  EXPECT_EQ(grade(0, 50, 50, 0), (GleasonGrade{4, 3, 3}));
  EXPECT_EQ(grade(0, 40, 30, 30), (GleasonGrade{3, 5, 4}));
}

TEST(GradeFromAreas, FloorsAreTheRules) {
  GradingRule rule;
  rule.min_higher = 0;
  EXPECT_EQ(grade(0, 99'999, 0, 1, rule), (GleasonGrade{3, 5, 4}));
  rule.min_higher = 0.2;
  EXPECT_EQ(grade(0, 85, 15, 0, rule), (GleasonGrade{3, 3, 1}));
  rule.min_area = 0.3;
  EXPECT_EQ(grade(0, 25, 75, 0, rule), (GleasonGrade{4, 4, 4}));
}

TEST(FindGleasonClasses, ToldByTheLastDigit) {
  const GleasonClasses found = find_gleason_classes({"other", "gleason_4", "benign", "Gleason 3"});
  EXPECT_EQ(found.pattern[0], 3u);
  EXPECT_EQ(found.pattern[1], 1u);
  EXPECT_FALSE(found.pattern[2].has_value());
  EXPECT_THROW(find_gleason_classes({"background", "nucleus"}), Error);
  EXPECT_THROW(find_gleason_classes({"background", "a3", "b3"}), Error);
}

}  // namespace
}  // namespace headrace::measure
