#include "headrace/ingest/volume/named_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::ingest {
namespace {

using testing::ElementsAre;
using Values = std::map<int, int>;

NamedClasses named(const std::vector<std::string>& texts) {
  return named_classes(texts, "classes");
}

TEST(NamedClasses, TheBackgroundComesFirstAndNeedNotBeThereWhereValuesAreStated) {
  const auto without = named({"liver=5|Leber", "spleen=1+2"});
  EXPECT_THAT(without.names, ElementsAre("background", "liver", "spleen"));
  EXPECT_EQ(without.by_mask_value, (Values{{0, 0}, {1, 2}, {2, 2}, {5, 1}}));
  EXPECT_EQ(without.by_plain_name.at("leber"), 1);
  EXPECT_THAT(named({"liver=1", "air=0"}).names, ElementsAre("air", "liver"));
}

TEST(NamedClasses, SeveralValuesMayBeIgnored) {
  const auto classes = named({"background", "liver=1", "ignore=7+8"});
  EXPECT_THAT(classes.names, ElementsAre("background", "liver"));
  EXPECT_EQ(classes.ignore_value, 7);
  EXPECT_EQ(classes.by_mask_value, (Values{{0, 0}, {1, 1}, {8, kIgnoreLabel}}));
  const auto one = named({"background", "liver", "ignore=7"});
  EXPECT_EQ(one.ignore_value, 7);
  EXPECT_TRUE(one.by_mask_value.empty()) << "the mask's values are label values";
}

TEST(NamedClasses, ContradictionsAreRefused) {
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"background", "a=1", "b=1"},
                                              {"background", "a="},
                                              {"background", "a=x", "b=x"},
                                              {"background", "a=70000"},
                                              {"background", "a=0"},
                                              {"background", "a", "ignore=0"},
                                              {"background", "a", "ignore=7+8"},
                                              {"background"}}) {
    EXPECT_THROW(named(bad), Error) << bad.back();
  }
}

}  // namespace
}  // namespace headrace::ingest
