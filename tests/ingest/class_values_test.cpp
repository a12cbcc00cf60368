#include "headrace/ingest/inputs/class_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::ingest {
namespace {

using testing::ElementsAre;
using Values = std::map<std::uint32_t, std::uint8_t>;

GivenClasses given(const std::vector<std::string>& texts) {
  return given_classes(texts, "classes");
}

TEST(GivenClasses, NamesAloneStateNoValues) {
  const auto classes = given({"background", "tumour=Tumor|_0", "stroma"});
  EXPECT_THAT(classes.names, ElementsAre("background", "tumour", "stroma"));
  EXPECT_THAT(classes.texts[1], ElementsAre("Tumor", "_0"));
  EXPECT_FALSE(classes.states_values());
  EXPECT_EQ(classes.label_of(1), std::nullopt);
}

TEST(GivenClasses, ValuesOfMasksBecomeLabelValues) {
  const auto classes = given({"tumour=255", "organ=1+2|Leber", "ignore=9"});
  EXPECT_THAT(classes.names, ElementsAre("background", "tumour", "organ"));
  EXPECT_EQ(classes.values, (Values{{0, 0}, {1, 2}, {2, 2}, {9, kIgnoreLabel}, {255, 1}}));
  EXPECT_THAT(classes.texts[2], ElementsAre("Leber"));
  const auto first = given({"background=3", "tumour=1"});
  EXPECT_EQ(first.values, (Values{{0, 0}, {1, 1}, {3, 0}, {255, kIgnoreLabel}}));
  EXPECT_EQ(given({"glass=0", "tumour=1"}).names[0], "glass");
  EXPECT_EQ(given({"background", "tumour=0+1"}).label_of(0), 1);
  EXPECT_THAT(given({"tumour=1", "background=0"}).names, ElementsAre("background", "tumour"));
}

TEST(GivenClasses, ValuesMayBeIgnoredWithoutAnyOtherStated) {
  const auto classes = given({"background", "tumour", "ignore=4+5"});
  EXPECT_THAT(classes.names, ElementsAre("background", "tumour"));
  EXPECT_EQ(classes.values,
            (Values{{0, 0}, {1, 1}, {4, kIgnoreLabel}, {5, kIgnoreLabel}, {255, kIgnoreLabel}}));
}

TEST(GivenClasses, ContradictionsAreRefused) {
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"background", "a=1", "b=1"},
                                              {"background", "a=1", "b"},
                                              {"a=1", "a=2"},
                                              {"background", "a="},
                                              {"background", "a=x|", "b"},
                                              {"background", "a=x", "b=x"}}) {
    EXPECT_THROW(given(bad), Error) << bad.back();
  }
}

TEST(GivenClasses, UnknownValuesAreListedByTheirNumber) {
  EXPECT_EQ(listed_values({{3, 5}, {7, 1200}}, "pixels"), "7 (1200 pixels), 3 (5 pixels)");
  std::map<std::uint32_t, std::uint64_t> many;
  for (std::uint32_t value = 0; value < 20; ++value) many[value] = 1;
  EXPECT_THAT(listed_values(many, "voxels"), testing::EndsWith("11 (1 voxels) and 8 more"));
}

}  // namespace
}  // namespace headrace::ingest
