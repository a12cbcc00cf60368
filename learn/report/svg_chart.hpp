#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::report {

struct Series {
  std::string name, colour;                   ///< colour: CSS
  std::vector<std::array<double, 2>> points;  ///< (x, y), x ascending
  bool dots = false;                          ///< mark each point: few, far apart
  bool last_value = true;                     ///< in the legend
};

/// A place on the x axis that is marked by a vertical line.
struct ChartMark {
  std::string name;
  double x = 0;
};

struct Chart {
  std::string title, x_label;
  std::vector<Series> series;
  std::optional<std::array<double, 2>> y_range;  ///< at least; wider where the data are
  std::vector<ChartMark> marks = {};
};

/// A line chart as inline SVG with axes, round ticks and a legend. Empty text without points.
std::string svg(const Chart& chart);

/// Counts over equal parts of 0 to 1 as columns, the highest as high as the chart; empty text where
/// all are 0.
std::string column_chart(const std::string& title, const std::string& x_label,
                         const std::vector<std::uint64_t>& counts, const std::string& colour);

/// A long curve with the lowest and the highest point of each stretch, at most `most` points or
/// two more; a short one unchanged. The first and the last stay.
std::vector<std::array<double, 2>> thinned(const std::vector<std::array<double, 2>>& points,
                                           std::size_t most);

/// One horizontal bar of parts that add up, with a legend of their shares.
struct BarPart {
  std::string name, colour;
  double value = 0;
};
std::string stacked_bar(const std::vector<BarPart>& parts, const std::string& unit);

/// Round positions that cover [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);

}  // namespace headrace::report
