#include "headrace/train/evaluate/examples.hpp"

#include <gtest/gtest.h>

namespace headrace::train {
namespace {

ShownImage shown(const std::string& id, double value) { return {0, id, value, {}, {}, 0, 0}; }

std::string chosen(const std::vector<std::pair<std::string, double>>& images) {
  ExampleKeeper keeper;
  for (const auto& [id, value] : images)
    keeper.wants(value, id) ? keeper.offer(shown(id, value)) : keeper.pass();
  std::string out;
  for (const auto& example : keeper.chosen())
    out += (example.worst ? "w" : "b") + std::to_string(example.number) + example.image->id + " ";
  return out;
}

TEST(ExampleKeeper, TakesTheLowestFourAndTheHighestTwoEqualOnesById) {
  EXPECT_EQ(
      chosen({{"f", 0.5}, {"b", 0.9}, {"a", 0.9}, {"h", 0.5}, {"g", 0.5}, {"c", 0.1}, {"e", 0.5}}),
      "w1c w2e w3f w4g b1a b2b ");
}

TEST(ExampleKeeper, TheOrderOfImagesDoesNotMatter) {
  const std::vector<std::pair<std::string, double>> images{{"a", 0.3}, {"b", 0.2}, {"c", 0.8},
                                                           {"d", 0.2}, {"e", 0.9}, {"f", 0.4},
                                                           {"g", 0.8}, {"h", 0.1}};
  EXPECT_EQ(chosen(images), "w1h w2b w3d w4a b1e b2c ");
  EXPECT_EQ(chosen({images.rbegin(), images.rend()}), "w1h w2b w3d w4a b1e b2c ");
}

TEST(ExampleKeeper, OfFewImagesNoneIsShownTwice) {
  EXPECT_EQ(chosen({}), "");
  EXPECT_EQ(chosen({{"a", 0.5}}), "w1a ");
  EXPECT_EQ(chosen({{"a", 0.5}, {"b", 0.4}}), "w1b w2a ");
  EXPECT_EQ(chosen({{"a", 0.5}, {"b", 0.4}, {"c", 0.6}}), "w1b w2a b1c ");
  EXPECT_EQ(chosen({{"a", 0.5}, {"b", 0.4}, {"c", 0.6}, {"d", 0.1}, {"e", 0.2}}),
            "w1d w2e w3b w4a b1c ");
}

}  // namespace
}  // namespace headrace::train
