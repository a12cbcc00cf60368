#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headrace::report {

struct Series {
  std::string name, colour;                   ///< colour: CSS
  std::vector<std::array<double, 2>> points;  ///< (x, y), x ascending
  bool dots = false;                          ///< mark each point: few, far apart
};

struct Chart {
  std::string title, x_label;
  std::vector<Series> series;
  std::optional<std::array<double, 2>> y_range;  ///< else from the data
};

/// A line chart as inline SVG with axes, round ticks and a legend. Empty text without points.
std::string svg(const Chart& chart);

/// One horizontal bar of parts that add up, with a legend of their shares.
struct BarPart {
  std::string name, colour;
  double value = 0;
};
std::string stacked_bar(const std::vector<BarPart>& parts, const std::string& unit);

/// Round positions that cover [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);

}  // namespace headrace::report
