#include "headrace/ingest/slide/grade.hpp"

#include <gtest/gtest.h>

#include "headrace/core/error.hpp"

namespace headrace::ingest {
namespace {

TEST(Grade, GroupsFollowIsup2014) {
  // 3+3 is 1, 3+4 is 2, 4+3 is 3, a sum of 8 is 4, 9 and 10 are 5 (Epstein et al., Am J Surg Pathol
  // 40, 2016).
  const std::vector<std::pair<Grade, int>> expected{
      {{0, 0}, 0}, {{3, 3}, 1}, {{3, 4}, 2}, {{4, 3}, 3}, {{4, 4}, 4},
      {{3, 5}, 4}, {{5, 3}, 4}, {{4, 5}, 5}, {{5, 4}, 5}, {{5, 5}, 5}};
  for (const auto& [grade, group] : expected) EXPECT_EQ(grade_group(grade), group);
}

TEST(Grade, ReadsScoresAndRefusesOthers) {
  EXPECT_EQ(parse_gleason("3+4", "w")->secondary, 4);
  EXPECT_EQ(parse_gleason(" 5 + 3 ", "w")->primary, 5);
  EXPECT_EQ(parse_gleason("negative", "w")->primary, 0);
  EXPECT_EQ(parse_gleason("0+0", "w")->primary, 0);
  EXPECT_FALSE(parse_gleason("", "w"));
  for (const char* bad : {"7", "2+4", "3+6", "3+", "3+4+5", "x"})
    EXPECT_THROW(parse_gleason(bad, "w"), Error) << bad;
}

}  // namespace
}  // namespace headrace::ingest
