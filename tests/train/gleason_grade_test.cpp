#include "headrace/train/gleason_grade.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::train {
namespace {

const std::vector<std::string> kNames{"background", "benign",   "hgpin",
                                      "pattern3",   "pattern4", "pattern5"};

GleasonGrade grade(std::uint64_t benign, std::uint64_t p3, std::uint64_t p4, std::uint64_t p5) {
  return grade_from_areas({1'000'000, benign, 0, p3, p4, p5}, find_gleason_classes(kNames), 0.02,
                          0.05);
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

TEST(GradeFromAreas, LargestIsPrimaryNextIsSecondary) {
  EXPECT_EQ(grade(0, 70, 30, 0), (GleasonGrade{3, 4, 2}));
  EXPECT_EQ(grade(0, 30, 70, 0), (GleasonGrade{4, 3, 3}));
  EXPECT_EQ(grade(0, 0, 40, 60), (GleasonGrade{5, 4, 5}));
  EXPECT_EQ(grade(0, 20, 30, 50), (GleasonGrade{5, 4, 5}));
  EXPECT_EQ(grade(0, 100, 0, 0), (GleasonGrade{3, 3, 1}));
}

TEST(GradeFromAreas, TracesDoNotCount) {
  EXPECT_EQ(grade(0, 96, 4, 0), (GleasonGrade{3, 3, 1}));
  EXPECT_EQ(grade(0, 95, 5, 0), (GleasonGrade{3, 4, 2}));
  EXPECT_EQ(grade(981, 19, 0, 0), (GleasonGrade{0, 0, 0}));
  EXPECT_EQ(grade(980, 20, 0, 0), (GleasonGrade{3, 3, 1}));
  EXPECT_EQ(grade(0, 0, 0, 0), (GleasonGrade{0, 0, 0}));
}

TEST(GradeFromAreas, OfEqualsTheHigherLeads) {
  EXPECT_EQ(grade(0, 50, 50, 0), (GleasonGrade{4, 3, 3}));
  EXPECT_EQ(grade(0, 40, 30, 30), (GleasonGrade{3, 5, 4}));
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
}  // namespace headrace::train
