#include "learn/report/class_section.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/matrix.hpp"

namespace headrace::report {
namespace {

std::string bar(const Json& value, const std::string& colour) {
  const double part = value.is_null() ? 0 : std::clamp(value.get<double>(), 0.0, 1.0);
  return fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%;background:{}\"></i></span>",
                     part * 100, colour);
}

}  // namespace

std::string sets_text(const RunData& data) {
  const char* key = data.volumes() ? "set_voxels" : "set_pixels";
  const auto pixels = data.eval.at("overall").at(key).get<std::uint64_t>();
  if (pixels == 0) return "";
  std::string names;
  for (const auto& [name, classes] : data.eval.at("class_sets").items()) {
    names += fmt::format("{}{} (one of {})", names.empty() ? "" : "; ", escaped_markup(name),
                         joined_names(classes));
  }
  return fmt::format(
      " {} more have a label that stands for several classes: {}. They take no part here, where "
      "one class is told from another.",
      grouped(pixels), names);
}

std::string confusion(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  std::vector<std::string> labels;
  for (std::size_t c = 0; c < names.size(); ++c) labels.push_back(class_label(names[c], c));
  return "<h3>Confusion, share of each true class</h3>" +
         matrix_html(data.eval.at("overall").at("matrix"), labels, /*percent=*/true);
}

std::string class_cell(const Json& overall, const measure::Figure& of, const std::string& name) {
  const JsonPath path = of.path(name);
  if (of.count) return std::to_string(value_in(overall, path).get<std::uint64_t>());
  return of.class_interval ? with_interval(overall, path, of.digits)
                           : figure(value_in(overall, path), of.digits);
}

std::string class_section(const RunData& data) {
  const auto names = names_of(data.eval.at("classes"));
  const Json& overall = data.eval.at("overall");
  const auto figures =
      measure::figures_at(&measure::Figure::class_column, measure::JudgedKind::slides);
  Table table{{"Class"}, {}, {false}};
  for (const measure::Figure* of : figures) {
    table.head.emplace_back(of->class_column.text);
    table.numeric.push_back(true);
    if (of != figures.front()) continue;
    table.head.emplace_back("");  // its bar
    table.numeric.push_back(false);
  }
  table.head.emplace_back("True pixels");
  table.numeric.push_back(true);
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::vector<std::string> row{class_label(names[c], c)};
    for (const measure::Figure* of : figures) {
      row.push_back(c == 0 && !of->background ? "" : class_cell(overall, *of, names[c]));
      if (of != figures.front()) continue;
      row.push_back(
          bar(value_in(overall, of->path(names[c])), pixels::css(pixels::class_colour(c))));
    }
    row.push_back(grouped(row_sum(overall.at("matrix")[c])));
    table.rows.push_back(std::move(row));
  }
  return fmt::format(
      "<section><h2>Segmentation on split “{}”</h2><p>{} annotated pixels in {} tiles, at the "
      "patch’s "
      "resolution. Mean Dice leaves out {}.{}{}</p>{}{}</section>\n",
      text_of(data.eval.at("split")), grouped(overall.at("pixels").get<std::uint64_t>()),
      grouped(data.eval.at("tiles").get<std::uint64_t>()), escaped_markup(names.front()),
      sets_text(data), interval_text(overall), table.html(), confusion(data));
}

}  // namespace headrace::report
