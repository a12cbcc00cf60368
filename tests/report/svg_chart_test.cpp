#include "headrace/report/svg_chart.hpp"

#include <gtest/gtest.h>

namespace headrace::report {
namespace {

TEST(Ticks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  const auto wide = ticks(3, 97, 5);
  EXPECT_LE(wide.front(), 3);
  EXPECT_GE(wide.back(), 97);
  EXPECT_EQ(wide[1] - wide[0], 20);
  EXPECT_LE(ticks(0, 1e-7, 5).size(), 8u);
}

TEST(Svg, PlacesPointsOnTheAxes) {
  Chart chart{"Dice",
              "step",
              {{"mean <1>", "#123456", {{0, 0}, {100, 1}}, true}},
              std::array<double, 2>{0, 1}};
  const std::string out = svg(chart);
  // Plot area: x 48 to 546, y 14 to 236.
  EXPECT_NE(out.find("M48.0,236.0 L546.0,14.0"), std::string::npos) << out;
  EXPECT_NE(out.find("mean &lt;1&gt; <b>1.000</b>"), std::string::npos);
  EXPECT_EQ(out.find("<1>"), std::string::npos);
}

TEST(Svg, NothingToShowIsNothing) {
  EXPECT_EQ(svg({"t", "x", {{"a", "#000", {}, false}}, std::nullopt}), "");
}

TEST(StackedBar, SharesAddUp) {
  const std::string out = stacked_bar({{"a", "#111", 3}, {"b", "#222", 1}}, "s");
  EXPECT_NE(out.find("width:75.00%"), std::string::npos);
  EXPECT_NE(out.find("width:25.00%"), std::string::npos);
  EXPECT_EQ(stacked_bar({{"a", "#111", 0}}, "s"), "");
}

}  // namespace
}  // namespace headrace::report
