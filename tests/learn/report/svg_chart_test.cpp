#include "learn/report/svg_chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Svg, MarksAPlaceOfTheAxis) {
  Chart chart{
      "Dice", "step", {{"mean", "#123456", {{0, 0}, {100, 1}}, true, false}}, {}, {{"<b>", 50}}};
  const std::string out = svg(chart);
  EXPECT_NE(out.find("class=\"marked\" x1=\"297.0\""), std::string::npos) << out;  // (48 + 546) / 2
  EXPECT_NE(out.find("&lt;b&gt;"), std::string::npos);
  EXPECT_EQ(out.find("<b>1.000"), std::string::npos);  // no last value asked for
}

TEST(Thinned, KeepsEndsAndPeaksOfALongCurve) {
  std::vector<std::array<double, 2>> points;
  for (int i = 0; i < 10'000; ++i)
    points.push_back({double(i), i == 4321 ? 9.0 : i == 77 ? -9.0 : 1.0});
  const auto few = thinned(points, 600);
  EXPECT_LE(few.size(), 602u);
  EXPECT_EQ(few.front(), points.front());
  EXPECT_EQ(few.back(), points.back());
  EXPECT_NE(std::find(few.begin(), few.end(), points[4321]), few.end());
  EXPECT_NE(std::find(few.begin(), few.end(), points[77]), few.end());
  EXPECT_TRUE(std::is_sorted(few.begin(), few.end()));
  EXPECT_EQ(thinned(few, 1000), few);
}

TEST(Chart, AKappaBelowZeroIsDrawnBelowZero) {
  const Chart chart{"kappa", "step", {{"a", "#111", {{0, 0.5}, {10, -0.4}}}}, {{0, 1}}};
  EXPECT_NE(svg(chart).find(">-0.5<"), std::string::npos) << svg(chart);  // the axis goes on
}

TEST(ColumnChart, TheHighestFillsTheChart) {
  const std::string out = column_chart("n", "p", {0, 5, 10}, "#111");
  EXPECT_NE(out.find("height=\"82.0\""), std::string::npos) << out;  // from 14 to 96
  EXPECT_NE(out.find("height=\"41.0\""), std::string::npos) << out;
  EXPECT_EQ(column_chart("n", "p", {0, 0}, "#111"), "");
}

TEST(ColumnChart, TheHighestCountIsNamedInFewLetters) {
  // Its text ends 42 units from the left edge: what is longer would lose its first digit.
  for (const auto& [count, text] :
       {std::pair{7ull, ">7<"}, std::pair{999ull, ">999<"}, std::pair{1000ull, ">1.0k<"},
        std::pair{165888ull, ">166k<"}, std::pair{999700ull, ">1.0M<"},
        std::pair{5218760ull, ">5.2M<"}, std::pair{12000000000ull, ">12G<"}}) {
    EXPECT_NE(column_chart("n", "p", {1, count}, "#111").find(text), std::string::npos) << count;
  }
}

TEST(StackedBar, SharesAddUp) {
  const std::string out = stacked_bar({{"a", "#111", 3}, {"b", "#222", 1}}, "s");
  EXPECT_NE(out.find("width:75.00%"), std::string::npos);
  EXPECT_NE(out.find("width:25.00%"), std::string::npos);
  EXPECT_EQ(stacked_bar({{"a", "#111", 0}}, "s"), "");
}

}  // namespace
}  // namespace headrace::report
