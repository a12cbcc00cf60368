#include "learn/report/baseline_section.hpp"

#include <fmt/format.h>

#include <utility>

#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"

namespace headrace::report {
namespace {

struct Row {
  std::string name;
  JsonPath path;
  int digits = 3;
};

/// Those of classes together, class by class.
std::vector<Row> rows_of(const RunData& data) {
  std::vector<Row> rows;
  const auto names = names_of(data.eval.at("classes"));
  const std::string region = region_word(data.eval);
  const auto figures = measure::figures_at(&measure::Figure::baseline, kind_of(data.eval));
  bool classes_done = false;
  for (const measure::Figure* of : figures) {
    if (!of->by_class()) {
      rows.push_back({measure::filled(of->baseline.text, "", region), of->path(), of->digits});
      continue;
    }
    if (std::exchange(classes_done, true)) continue;
    for (std::size_t c = 1; c < names.size(); ++c) {
      for (const measure::Figure* row : figures) {
        if (!row->by_class()) continue;
        rows.push_back({measure::filled(row->baseline.text, class_label(names[c], c), region),
                        row->path(names[c]), row->digits});
      }
    }
  }
  return rows;
}

std::string rule_text(const RunData& data) {
  const Json& rule = data.eval.at("baseline").at("rule");
  if (rule.contains("balls")) {
    return "a ball for each class, of the mean volume that it has in the training split, at its "
           "mean "
           "place in the box around the body";
  }
  if (rule.at("majority").is_null()) return "background everywhere";
  return "everywhere " + text_of(rule.at("majority")) +
         ", the class above background with the most annotated pixels of the training split";
}

}  // namespace

std::string baseline_section(const RunData& data) {
  if (!data.eval.contains("baseline")) return "";
  const Json& baseline = data.eval.at("baseline");
  Table table{{"", "Network", "Baseline"}, {}, {false, true, true}};
  for (const Row& row : rows_of(data)) {
    const Json theirs = value_at(baseline.at("overall"), row.path);
    const Json ours = value_at(data.eval.at("overall"), row.path);
    if (theirs.is_null() && ours.is_null()) continue;
    table.rows.push_back(
        {row.name, "<b>" + figure(ours, row.digits) + "</b>", figure(theirs, row.digits)});
  }
  for (const GroupKind& kind : group_kinds(baseline)) {
    if (baseline.at(kind.key).size() < 2) continue;
    for (const auto& [name, group] : baseline.at(kind.key).items()) {
      table.rows.push_back(
          {fmt::format("Mean Dice, {} {}", lowered(kind.word), escaped_markup(name)),
           "<b>" + figure(value_at(data.eval, {kind.key, name, "mean_dice"})) + "</b>",
           figure(group.at("mean_dice"))});
    }
  }
  return fmt::format(
      "<section><h2>Against what looks at no pixel</h2><p>The baseline is {}. A network is worth "
      "what "
      "it does better.</p>{}</section>\n",
      rule_text(data), table.html());
}

}  // namespace headrace::report
