#include "learn/train/evaluate/examples.hpp"

#include <gtest/gtest.h>

#include "learn/train/slide/slide_examples.hpp"

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

TEST(SlideOverview, TakesTheMiddleOfEveryBlockAlsoOfACutOne) {
  SlideOverview overview;
  overview.start(513, 5);  // blocks of 2 × 2; the last ones of 1 row, of 1 column
  for (std::int64_t y = 0; y < 513; ++y) {
    inference::StitchedPart row;
    row.at = y;
    for (int x = 0; x < 5; ++x) {
      row.predicted.push_back(static_cast<std::uint8_t>(y % 50 * 5 + x));
      row.truth.push_back(static_cast<std::uint8_t>(y / 50));
    }
    overview.add(row);
  }
  const LabelPicture labels = overview.take();
  ASSERT_EQ(labels.height, 257);
  ASSERT_EQ(labels.width, 3);
  for (std::int64_t y = 0; y < 257; ++y) {
    const std::int64_t row = y < 256 ? 2 * y + 1 : 512;
    for (std::int64_t x = 0; x < 3; ++x) {
      const auto at = static_cast<std::size_t>(y * 3 + x);
      EXPECT_EQ(labels.predicted[at], row % 50 * 5 + (x < 2 ? 2 * x + 1 : 4)) << y << " " << x;
      EXPECT_EQ(labels.truth[at], row / 50) << y;
    }
  }
}

}  // namespace
}  // namespace headrace::train
