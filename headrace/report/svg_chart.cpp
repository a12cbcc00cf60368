#include "headrace/report/svg_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/text.hpp"
#include "headrace/report/html.hpp"

namespace headrace::report {
namespace {

constexpr double kWidth = 560, kHeight = 270, kLeft = 48, kRight = 14, kTop = 14, kBottom = 34;

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
    frame.y0 = (*chart.y_range)[0];
    frame.y1 = (*chart.y_range)[1];
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
  for (const auto& [x, y] : series.points) {
    const double px = frame.px(x), py = frame.py(std::clamp(y, frame.y0, frame.y1));
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "M" : " L", px, py);
    if (series.dots || series.points.size() == 1) {
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {:.4f} at "
          "{:g}</title></circle>",
          px, py, series.colour, escaped_markup(series.name), y, x);
    }
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>{}",
      path, series.colour, dots);
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
    legend += legend_entry(
        series.colour,
        fmt::format("{} <b>{:.3f}</b>", escaped_markup(series.name), series.points.back()[1]));
  }
  return out + "</svg><div class=\"legend\">" + legend + "</div></figure>\n";
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
