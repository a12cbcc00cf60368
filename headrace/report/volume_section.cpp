#include "headrace/report/volume_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/report/eval_json.hpp"
#include "headrace/report/evaluation_section.hpp"
#include "headrace/report/html.hpp"
#include "headrace/report/svg_chart.hpp"

namespace headrace::report {
namespace {

constexpr double kMostFalsePositives = 8;  ///< right end of the FROC chart

bool has_lesions(const RunData& data) { return !data.eval.at("lesion_classes").empty(); }

std::string tolerance_text(const RunData& data) {
  return fmt::format("{:g}", data.config.at("eval").value("surface_tolerance_mm", 2.0));
}

Series froc_curve(const std::string& name, const std::string& colour, const Json& lesion) {
  Series series{name, colour, {{0, 0}}, false};
  for (const Json& point : lesion.at("curve")) {
    const double x = point[0].get<double>(), y = point[1].get<double>();
    // Sensitivity is what the thresholds so far reached: steps, not lines.
    if (x > kMostFalsePositives) break;
    series.points.push_back({x, series.points.back()[1]});
    series.points.push_back({x, y});
  }
  series.points.push_back({kMostFalsePositives, series.points.back()[1]});
  return series;
}

void add_group(Table& table, const std::string& kind, const std::string& name, const Json& group,
               const std::vector<std::string>& classes, bool lesions) {
  std::vector<std::string> row{
      kind, escaped_markup(name), std::to_string(group.at("cases").get<std::uint64_t>()),
      std::to_string(group.at("images").get<std::uint64_t>()), with_interval(group, {"mean_dice"})};
  if (lesions) {
    row.push_back(std::to_string(group.at("lesion").at("lesions").get<std::uint64_t>()));
    row.push_back(with_interval(group, {"lesion", "froc"}));
    row.push_back(with_interval(group, {"lesion", "sensitivity_at_1"}));
  }
  for (std::size_t c = 1; c < classes.size(); ++c) {
    row.push_back(with_interval(group, {"dice", classes[c]}));
    row.push_back(with_interval(group, {"surface_dice", classes[c]}));
    row.push_back(with_interval(group, {"hd95", classes[c]}, 1));
  }
  table.rows.push_back(std::move(row));
}

}  // namespace

std::string volume_class_section(const RunData& data) {
  const auto classes = names_of(data.eval.at("classes"));
  const Json& overall = data.eval.at("overall");
  Table table{{"Class", "Dice", "Surface Dice", "HD95, mm", "penalised", "Found", "Missed",
               "Invented", "Pooled Dice", "True voxels"},
              {},
              {false, true, true, true, true, true, true, true, true, true}};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::string> row{class_label(classes[c], c),
                                 with_interval(overall, {"dice", classes[c]})};
    if (c == 0) {
      row.insert(row.end(), {"", "", "", "", "", ""});
    } else {
      row.push_back(with_interval(overall, {"surface_dice", classes[c]}));
      row.push_back(with_interval(overall, {"hd95", classes[c]}, 1));
      row.push_back(with_interval(overall, {"hd95_penalised", classes[c]}, 1));
      for (const char* kind : {"found", "missed", "invented"}) {
        row.push_back(
            std::to_string(overall.at("structures").at(classes[c]).at(kind).get<std::uint64_t>()));
      }
    }
    row.push_back(figure(overall.at("pooled_dice").at(classes[c])));
    row.push_back(grouped(row_sum(overall.at("matrix")[c])));
    table.rows.push_back(std::move(row));
  }
  return fmt::format(
      "<section><h2>Segmentation on split “{}”</h2><p>{} volumes of {} cases, {} annotated voxels, "
      "on each volume’s own grid: probabilities were brought to it, labels stayed as they are. "
      "Dice, surface Dice (tolerance {} mm) and HD95 are means over volumes; a volume without the "
      "class in truth and prediction is left out. A structure that was missed or invented has a "
      "Dice of 0; its HD95 is undefined, and penalised the volume’s diagonal. Pooled Dice is of "
      "all voxels together.{}{}</p>{}"
      "</section>\n",
      text_of(data.eval.at("split")), overall.at("images").get<std::uint64_t>(),
      overall.at("cases").get<std::uint64_t>(), grouped(overall.at("voxels").get<std::uint64_t>()),
      tolerance_text(data), sets_text(data), interval_text(overall), table.html());
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
  const auto row = [&](const std::string& name, const std::vector<std::string>& path) {
    return std::vector<std::string>{name, with_interval(overall, path)};
  };
  const std::string from = fmt::format("{:g}", eval.value("lesion_probability", 0.5));
  Table table{{"", ""}, {}, {false, true}};
  table.rows = {
      row("Sensitivity for lesions, calls from " + from, {"lesion", "sensitivity"}),
      row("Precision of these calls", {"lesion", "precision"}),
      row("False positives a scan", {"lesion", "false_positives_per_scan"}),
      row("Cases with a lesion: AUC of the highest call", {"lesion", "case", "auc"}),
      row("Sensitivity for cases", {"lesion", "case", "sensitivity"}),
      row("Specificity for cases", {"lesion", "case", "specificity"}),
      row(fmt::format("Sensitivity for cases at specificity {:g}", eval.value("specificity", 0.9)),
          {"lesion", "case", "sensitivity_at_specificity"}),
      row("Voxels in the body: AUC of the lesion’s probability", {"lesion", "voxel", "auc"})};
  return table;
}

}  // namespace

std::string lesion_section(const RunData& data) {
  if (!has_lesions(data)) return "";
  const Json& overall = data.eval.at("overall");
  const Json& lesion = overall.at("lesion");
  Chart chart{"FROC", "false positives a scan", {}, std::array<double, 2>{0, 1}};
  std::size_t colour = 1;
  const Json& cohorts = data.eval.at("cohorts");
  if (cohorts.size() > 1) {
    for (const auto& [name, group] : cohorts.items())
      chart.series.push_back(
          froc_curve(name, pixels::css(pixels::class_colour(colour++)), group.at("lesion")));
  }
  chart.series.push_back(froc_curve("all", "#1c2530", lesion));
  const Json& eval = data.config.at("eval");
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

std::string volume_group_section(const RunData& data) {
  const auto classes = names_of(data.eval.at("classes"));
  const bool lesions = has_lesions(data);
  Table table{{"", "Name", "Cases", "Volumes", "Mean Dice"}, {}, {false, false, true, true, true}};
  if (lesions) {
    table.head.insert(table.head.end(), {"Lesions", "FROC", "Sensitivity at 1"});
  }
  for (std::size_t c = 1; c < classes.size(); ++c) {
    const std::string label = class_label(classes[c], c);
    table.head.insert(table.head.end(),
                      {label + " Dice", label + " surface Dice", label + " HD95, mm"});
  }
  table.numeric.resize(table.head.size(), true);
  add_group(table, "All", "", data.eval.at("overall"), classes, lesions);
  for (const auto& [name, group] : data.eval.at("cohorts").items())
    add_group(table, "Cohort", name, group, classes, lesions);
  const Json scanners = data.eval.value("scanners", Json::object());
  for (const auto& [name, group] : scanners.items())
    add_group(table, "Scanner", name, group, classes, lesions);
  for (const auto& [name, group] : data.eval.at("phases").items())
    add_group(table, "Phase", name, group, classes, lesions);
  return fmt::format("<section><h2>By cohort{} and phase</h2>",
                     scanners.empty() ? "" : ", scanner") +
         table.html() + other_evaluations(data) + "</section>\n";
}

std::string volume_image_section(const RunData& data) {
  const auto classes = names_of(data.eval.at("classes"));
  const bool lesions = has_lesions(data);
  const double operating = data.eval.value("lesion_probability", 0.0);
  Table table{
      {"Volume", "Case", "Cohort", "Phase", "Mean Dice"}, {}, {false, false, false, false, true}};
  if (lesions) table.head.insert(table.head.end(), {"Lesions hit", "False positives"});
  for (std::size_t c = 1; c < classes.size(); ++c)
    table.head.insert(table.head.end(), {class_label(classes[c], c) + " Dice", "HD95, mm"});
  table.numeric.resize(table.head.size(), true);
  const Json& images = data.eval.at("images");
  for (const Json& image : images) {
    if (table.rows.size() == kImagesShown) break;
    std::vector<std::string> row{text_of(image.at("id")), text_of(image.at("case")),
                                 text_of(image.at("cohort")), text_of(image.at("phase")),
                                 figure(image.at("mean_dice"))};
    if (lesions) {
      std::size_t hits = 0, wrong = 0;
      for (const Json& call : image.at("calls")) {
        if (call.at("score").get<double>() >= operating)
          ++(call.at("hit").get<bool>() ? hits : wrong);
      }
      row.push_back(fmt::format("{} of {}", hits, image.at("lesions").size()));
      row.push_back(std::to_string(wrong));
    }
    for (std::size_t c = 1; c < classes.size(); ++c) {
      row.push_back(figure(image.at("dice").at(classes[c])));
      const Json& word = image.at("structure").at(classes[c]);
      const bool plain = word.is_null() || word == "found" || word == "absent";
      row.push_back(plain ? figure(image.at("hd95").at(classes[c]), 1)
                          : "<span class=\"off\">" + text_of(word) + "</span>");
    }
    table.rows.push_back(std::move(row));
  }
  const std::string rest =
      images.size() > kImagesShown
          ? fmt::format("<p>The first {} of {} volumes; eval-volumes.csv has all.</p>",
                        kImagesShown, images.size())
          : "";
  return "<section><h2>Volumes</h2>" + rest + table.html() + "</section>\n";
}

}  // namespace headrace::report
