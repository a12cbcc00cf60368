#include "learn/report/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/text.hpp"
#include "learn/report/html.hpp"

namespace headrace::report {
namespace {

constexpr double kWidth = 560, kHeight = 270, kLeft = 48, kRight = 14, kTop = 14, kBottom = 34;
constexpr std::size_t kMostPoints = 600;  ///< of a curve: finer than the picture

struct Frame {
  double x0, x1, y0, y1;
  double px(double x) const { return kLeft + (x - x0) / (x1 - x0) * (kWidth - kLeft - kRight); }
  double py(double y) const {
    return kHeight - kBottom - (y - y0) / (y1 - y0) * (kHeight - kTop - kBottom);
  }
};

bool frame_of(const Chart& chart, Frame& frame) {
  bool any = false;
  for (const Series& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      if (!any) frame = {x, x, y, y};
      frame = {std::min(frame.x0, x), std::max(frame.x1, x), std::min(frame.y0, y),
               std::max(frame.y1, y)};
      any = true;
    }
  }
  if (!any) return false;
  frame.x0 = std::min(frame.x0, 0.0);
  if (chart.y_range) {
    frame.y0 = std::min(frame.y0, (*chart.y_range)[0]);
    frame.y1 = std::max(frame.y1, (*chart.y_range)[1]);
  }
  if (frame.x1 <= frame.x0) frame.x1 = frame.x0 + 1;
  if (frame.y1 <= frame.y0) frame.y1 = frame.y0 + 1;
  const std::vector<double> y = ticks(frame.y0, frame.y1, 5);
  frame.y0 = std::min(frame.y0, y.front());
  frame.y1 = std::max(frame.y1, y.back());
  return true;
}

std::string axes(const Chart& chart, const Frame& frame) {
  std::string out;
  for (const double y : ticks(frame.y0, frame.y1, 5)) {
    out += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{:.4g}</text>",
        kLeft, kWidth - kRight, frame.py(y), frame.py(y), kLeft - 8, frame.py(y) + 4, y);
  }
  for (const double x : ticks(frame.x0, frame.x1, 6)) {
    if (x > frame.x1) continue;
    out += fmt::format(
        "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{:.6g}</text>",
        frame.px(x), kHeight - kBottom + 18, x);
  }
  out += fmt::format("<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                     kWidth - kRight, kHeight - 3, escaped_markup(chart.x_label));
  return out;
}

std::string curve(const Series& series, const Frame& frame) {
  std::string path, dots;
  for (const auto& [x, y] : thinned(series.points, kMostPoints)) {
    const double px = frame.px(x), py = frame.py(std::clamp(y, frame.y0, frame.y1));
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " L", px, py);
    if (series.dots || series.points.size() == 1) {
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" style=\"fill:{}\"><title>{}: {:.4f} at "
          "{:g}</title></circle>",
          px, py, series.colour, escaped_markup(series.name), y, x);
    }
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" style=\"stroke:{}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>{}",
      path, series.colour, dots);
}

/// "950", "17k", "5.1M": fits beside an axis.
std::string short_count(std::uint64_t count) {
  auto value = static_cast<double>(count);
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.{}f}{}", value, *unit != '\0' && value < 9.95 ? 1 : 0, unit);
}

/// Vertical lines, each with its name beside its upper end.
std::string marks(const Chart& chart, const Frame& frame) {
  std::string out;
  for (const ChartMark& mark : chart.marks) {
    const double px = frame.px(mark.x);
    const bool right = px > kWidth / 2;
    out += fmt::format(
        "<line class=\"marked\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"{3}\" x=\"{4:.1f}\" y=\"{1:.1f}\">{5}</text>",
        px, kTop - 3, kHeight - kBottom, right ? "end" : "start", right ? px - 4 : px + 4,
        escaped_markup(mark.name));
  }
  return out;
}

std::string legend_entry(const std::string& colour, const std::string& text) {
  return fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>", colour, text);
}

}  // namespace

std::vector<double> ticks(double low, double high, int count) {
  const double raw = (high - low) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> out;
  const auto first = static_cast<long long>(std::floor(low / step + 1e-9));
  const auto last = static_cast<long long>(std::ceil(high / step - 1e-9));
  for (long long i = first; i <= last; ++i) out.push_back(static_cast<double>(i) * step);
  return out;
}

std::string svg(const Chart& chart) {
  Frame frame{};
  if (!frame_of(chart, frame)) return "";
  std::string out = fmt::format(
      "<figure class=\"chart\"><figcaption>{}</figcaption><svg viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">{}",
      escaped_markup(chart.title), kWidth, kHeight, escaped_markup(chart.title),
      axes(chart, frame));
  std::string legend;
  for (const Series& series : chart.series) {
    if (series.points.empty()) continue;
    out += curve(series, frame);
    std::string text = escaped_markup(series.name);
    if (series.last_value) text += fmt::format(" <b>{:.3f}</b>", series.points.back()[1]);
    legend += legend_entry(series.colour, text);
  }
  return out + marks(chart, frame) + "</svg><div class=\"legend\">" + legend + "</div></figure>\n";
}

std::string column_chart(const std::string& title, const std::string& x_label,
                         const std::vector<std::uint64_t>& counts, const std::string& colour) {
  const std::uint64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  if (most == 0) return "";
  constexpr double kColumnsHeight = 130;
  const double base = kColumnsHeight - kBottom;
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(counts.size());
  std::string out = fmt::format(
      "<figure class=\"chart\"><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2}\" "
      "role=\"img\" aria-label=\"{0}\"><line class=\"grid\" x1=\"{3}\" x2=\"{4}\" "
      "y1=\"{5:.1f}\" y2=\"{5:.1f}\"/>",
      escaped_markup(title), kWidth, kColumnsHeight, kLeft, kWidth - kRight, base);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double height =
        (base - kTop) * static_cast<double>(counts[i]) / static_cast<double>(most);
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "style=\"fill:{}\"><title>{}</title></rect>",
        kLeft + step * static_cast<double>(i) + 1, base - height, step - 2, height, colour,
        grouped(counts[i]));
  }
  for (const double x : ticks(0, 1, 6)) {
    if (x > 1) continue;
    out += fmt::format(
        "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{:.6g}</text>",
        kLeft + x * (kWidth - kLeft - kRight), base + 16, x);
  }
  return out + fmt::format(
                   "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>"
                   "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" "
                   "y=\"{:.1f}\">{}</text></svg></figure>\n",
                   kWidth - kRight, kColumnsHeight - 3, escaped_markup(x_label), kLeft - 6,
                   kTop + 8, short_count(most));
}

std::vector<std::array<double, 2>> thinned(const std::vector<std::array<double, 2>>& points,
                                           std::size_t most) {
  if (points.size() <= most || most < 4) return points;
  std::vector<std::array<double, 2>> out{points.front()};
  const std::size_t inner = points.size() - 2, stretches = (most - 2) / 2;
  const auto lower = [](const auto& a, const auto& b) { return a[1] < b[1]; };
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto at = [&](std::size_t i) {
      return points.begin() + 1 + static_cast<std::ptrdiff_t>(i * inner / stretches);
    };
    auto [low, high] = std::minmax_element(at(s), at(s + 1), lower);
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (low != high) out.push_back(*high);
  }
  out.push_back(points.back());
  return out;
}

std::string stacked_bar(const std::vector<BarPart>& parts, const std::string& unit) {
  double sum = 0;
  for (const BarPart& part : parts) sum += part.value;
  if (sum <= 0) return "";
  std::string bar, legend;
  for (const BarPart& part : parts) {
    const double percent = part.value / sum * 100;
    bar += fmt::format("<span style=\"width:{:.2f}%;background:{}\" title=\"{}\"></span>", percent,
                       part.colour, escaped_markup(part.name));
    legend += legend_entry(part.colour,
                           fmt::format("{} <b>{:.1f} {}</b> <small>{:.1f}&#8239;%</small>",
                                       escaped_markup(part.name), part.value, unit, percent));
  }
  return "<div class=\"stack\">" + bar + "</div><div class=\"legend\">" + legend + "</div>\n";
}

}  // namespace headrace::report
