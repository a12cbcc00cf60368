#include "learn/report/volume_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/class_section.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/style_sheet.hpp"
#include "learn/report/svg_chart.hpp"

namespace headrace::report {
namespace {

/// Right end of the FROC chart: that of the figure, or further to where the run is used.
constexpr double kMostFalsePositives = 8, kFurthest = 30;

bool has_lesions(const RunData& data) { return !data.eval.at("lesion_classes").empty(); }

std::string tolerance_text(const RunData& data) {
  return fmt::format("{:g}", data.config.at("eval").value("surface_tolerance_mm", 2.0));
}

double chart_end(const Json& lesion) {
  const Json at = lesion.at("false_positives_per_scan");
  const double used = at.is_number() ? at.get<double>() : 0;
  return used > kFurthest ? kMostFalsePositives : std::max(kMostFalsePositives, std::ceil(used));
}

Series froc_curve(const std::string& name, const std::string& colour, const Json& lesion,
                  double end) {
  Series series{name, colour, {}, false, false};
  if (lesion.at("lesions") == 0) return series;  // undefined, not 0
  series.points.push_back({0, 0});
  for (const Json& point : lesion.at("curve")) {
    const double x = point[0].get<double>(), y = point[1].get<double>();
    // Sensitivity is what the thresholds so far reached: steps, not lines.
    if (x > end) break;
    series.points.push_back({x, series.points.back()[1]});
    series.points.push_back({x, y});
  }
  series.points.push_back({end, series.points.back()[1]});
  return series;
}

/// Where calls of at least eval.lesion_probability lie; no points where that is off the chart.
Series operating_point(const Json& lesion, double probability, double end) {
  Series series{fmt::format("operating point, calls from {:g}", probability), "#d6384a", {}, true};
  const Json &x = lesion.at("false_positives_per_scan"), &y = lesion.at("sensitivity");
  if (x.is_number() && y.is_number() && x.get<double>() <= end)
    series.points.push_back({x.get<double>(), y.get<double>()});
  return series;
}

}  // namespace

std::string volume_class_section(const RunData& data) {
  const auto classes = names_of(data.eval.at("classes"));
  const Json& overall = data.eval.at("overall");
  const auto figures =
      measure::figures_at(&measure::Figure::class_column, measure::JudgedKind::volumes);
  Table table{{"Class"}, {}, {false}};
  for (const measure::Figure* of : figures) table.head.emplace_back(of->class_column.text);
  table.head.emplace_back("True voxels");
  table.numeric.resize(table.head.size(), true);
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::string> row{class_label(classes[c], c)};
    for (const measure::Figure* of : figures)
      row.push_back(c == 0 && !of->background ? "" : class_cell(overall, *of, classes[c]));
    row.push_back(grouped(row_sum(overall.at("matrix")[c])));
    table.rows.push_back(std::move(row));
  }
  return fmt::format(
      "<section><h2>Segmentation on split “{}”</h2><p>{} volumes of {} cases, {} annotated voxels, "
      "on each volume’s own grid: probabilities were brought to it, labels stayed as they are. "
      "Dice, surface Dice (tolerance {} mm) and HD95 are means over volumes; a volume without the "
      "class in truth and prediction is left out. A structure that was missed or invented has a "
      "Dice of 0; its HD95 is undefined, and penalised the volume’s diagonal. Surface Dice and HD95 are those of "
      "DeepMind’s surface-distance: of surface elements weighted by their area, the larger of the "
      "two directions’ 95th percentiles; other tools define HD95 otherwise. Pooled Dice is of "
      "all voxels together.{}{}</p>{}{}"
      "</section>\n",
      text_of(data.eval.at("split")), overall.at("images").get<std::uint64_t>(),
      overall.at("cases").get<std::uint64_t>(), grouped(overall.at("voxels").get<std::uint64_t>()),
      tolerance_text(data), sets_text(data), interval_text(overall), table.html(), confusion(data));
}

namespace {

Table froc_table(const Json& overall) {
  Table table{{"False positives a scan", "Sensitivity"}, {}, {true, true}};
  for (const char* at : {"0.125", "0.25", "0.5", "1", "2", "4", "8"})
    table.rows.push_back(
        {at, with_interval(overall, {"lesion", fmt::format("sensitivity_at_{}", at)})});
  table.rows.push_back({"mean of these", with_interval(overall, {"lesion", "froc"})});
  return table;
}

Table size_table(const Json& overall) {
  Table table{{"Diameter", "Lesions", "Hit", "Sensitivity", "at 1 a scan"},
              {},
              {false, true, true, true, true}};
  for (const auto& [name, range] : overall.at("lesion").at("by_size").items()) {
    std::string label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    table.rows.push_back({escaped_markup(label),
                          std::to_string(range.at("lesions").get<std::uint64_t>()),
                          std::to_string(range.at("hits").get<std::uint64_t>()),
                          with_interval(overall, {"lesion", "by_size", name, "sensitivity"}),
                          with_interval(overall, {"lesion", "by_size", name, "sensitivity_at_1"})});
  }
  // Names are sorted in JSON; sizes ascend by the number that they begin with.
  const auto start = [](const std::vector<std::string>& row) {
    if (row[0].rfind("below", 0) == 0) return 0.0;
    return std::strtod(row[0].c_str() + (row[0].rfind("from ", 0) == 0 ? 5 : 0), nullptr);
  };
  std::sort(table.rows.begin(), table.rows.end(),
            [&](const auto& a, const auto& b) { return start(a) < start(b); });
  return table;
}

Table detection_table(const RunData& data, const Json& overall) {
  const Json& eval = data.config.at("eval");
  Table table{{"", ""}, {}, {false, true}};
  for (const measure::Figure& of : measure::figure_table()) {
    if (of.lesion_row.empty()) continue;
    // "{probability}", "{specificity}": at what of the config the figure is read off.
    const std::string name = fmt::format(
        fmt::runtime(of.lesion_row),
        fmt::arg("probability", fmt::format("{:g}", eval.value("lesion_probability", 0.5))),
        fmt::arg("specificity", fmt::format("{:g}", eval.value("specificity", 0.9))));
    table.rows.push_back({name, with_interval(overall, of.path(), of.digits)});
  }
  return table;
}

}  // namespace

std::string lesion_section(const RunData& data) {
  if (!has_lesions(data)) return "";
  const Json& overall = data.eval.at("overall");
  const Json& lesion = overall.at("lesion");
  Chart chart{"FROC", "false positives a scan", {}, std::array<double, 2>{0, 1}};
  std::size_t colour = 1;
  const double end = chart_end(lesion);
  const Json& cohorts = data.eval.at("cohorts");
  if (cohorts.size() > 1) {
    for (const auto& [name, group] : cohorts.items())
      chart.series.push_back(
          froc_curve(name, pixels::css(pixels::class_colour(colour++)), group.at("lesion"), end));
  }
  chart.series.push_back(froc_curve("all", kInk, lesion, end));
  const Json& eval = data.config.at("eval");
  chart.series.push_back(operating_point(lesion, eval.value("lesion_probability", 0.5), end));
  return fmt::format(
      "<section><h2>Lesions</h2><p>{} annotated lesions ({}) in {} scans; {} calls of at least "
      "{:g}, {} of them hits. A call of score s is a connected part of the voxels with a "
      "probability of at least 0.4·s whose highest probability is s; the curve goes down to a "
      "score "
      "of {:g}, and calls are at least {:g} mm³ large. A call hits the lesion that it overlaps "
      "most, from an intersection over union of {:g} on; a lesion is hit once, by the call with "
      "the "
      "highest score.{}</p><div class=\"two\"><div>{}</div><div>{}</div></div><div "
      "class=\"two\"><div><h3>By "
      "size</h3>{}</div><div><h3>Detection</h3>{}</div></div></section>\n",
      lesion.at("lesions").get<std::uint64_t>(), joined_names(data.eval.at("lesion_classes")),
      lesion.at("scans").get<std::uint64_t>(), lesion.at("calls").get<std::uint64_t>(),
      eval.value("lesion_probability", 0.5), lesion.at("hits").get<std::uint64_t>(),
      eval.value("lesion_lowest", 0.1), eval.value("lesion_min_mm3", 0.0),
      eval.value("lesion_overlap", 0.0), interval_text(overall), svg(chart),
      froc_table(overall).html(), size_table(overall).html(),
      detection_table(data, overall).html());
}

}  // namespace headrace::report
