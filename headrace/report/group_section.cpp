#include "headrace/report/group_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headrace/core/text.hpp"
#include "headrace/report/eval_json.hpp"
#include "headrace/report/html.hpp"
#include "headrace/report/main_figures.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kGroupsShown = 40;  ///< of each kind

/// A group's name; the worst of several marked, in the table that has the figure by which it is.
std::string name_cell(const std::vector<NamedGroup>& groups, std::size_t at, const JsonPath& path,
                      bool marked) {
  return escaped_markup(groups[at].name) +
         (marked && at == 0 && has_worst(groups, path) ? "<span class=\"mark\">worst</span>" : "");
}

/// One row for each group of every kind, and one for all; `cells` gives what follows the counts.
template <typename Cells>
void add_rows(const RunData& data, const JsonPath& sorted_by, bool marked, Table& table,
              const Cells& cells) {
  const Json& eval = data.eval;
  const auto add = [&](const std::string& kind, const std::string& name, std::size_t cases,
                       const Json& group) {
    std::vector<std::string> row{kind, name, std::to_string(cases),
                                 std::to_string(group.at("images").get<std::uint64_t>())};
    cells(group, row);
    table.rows.push_back(std::move(row));
  };
  add("All", "", count_cases(eval, nullptr, ""), eval.at("overall"));
  for (const GroupKind& kind : group_kinds(eval)) {
    const auto groups = worst_first(eval.at(kind.key), sorted_by);
    for (std::size_t g = 0; g < groups.size() && g < kGroupsShown; ++g) {
      add(kind.word, name_cell(groups, g, sorted_by, marked),
          count_cases(eval, &kind, groups[g].name), *groups[g].figures);
    }
    if (groups.size() > kGroupsShown) {
      std::vector<std::string> rest(table.head.size());
      rest[0] = kind.word;
      rest[1] = fmt::format("{} more in eval.json", groups.size() - kGroupsShown);
      table.rows.push_back(std::move(rest));
    }
  }
}

Table table_of(const RunData& data, const std::vector<std::string>& columns) {
  Table table{
      {"", "Name", "Cases", data.volumes() ? "Volumes" : "Images"}, {}, {false, false, true, true}};
  table.head.insert(table.head.end(), columns.begin(), columns.end());
  table.numeric.resize(table.head.size(), true);
  return table;
}

std::string figures_table(const RunData& data, const std::vector<MainFigure>& figures) {
  std::vector<std::string> columns;
  const bool lesions = data.eval.at("overall").contains("lesion");
  if (lesions) columns.push_back("Lesions");
  for (const MainFigure& figure : figures) columns.push_back(figure.name);
  if (data.gleason()) columns.push_back("Tumour AUC");
  Table table = table_of(data, columns);
  add_rows(data, figures.front().path, /*marked=*/true, table, [&](const Json& group, auto& row) {
    if (lesions)
      row.push_back(std::to_string(group.at("lesion").at("lesions").template get<std::uint64_t>()));
    for (const MainFigure& figure : figures) row.push_back(with_interval(group, figure.path));
    if (data.gleason()) row.push_back(with_interval(group, {"tumour", "auc"}));
  });
  return table.html();
}

/// A figure that each class has. From class 0 on, or 1.
std::string class_table(const RunData& data, const JsonPath& sorted_by, const char* figure,
                        std::size_t first, int digits) {
  const auto names = names_of(data.eval.at("classes"));
  std::vector<std::string> columns;
  for (std::size_t c = first; c < names.size(); ++c) columns.push_back(class_label(names[c], c));
  Table table = table_of(data, columns);
  add_rows(data, sorted_by, /*marked=*/false, table, [&](const Json& group, auto& row) {
    for (std::size_t c = first; c < names.size(); ++c)
      row.push_back(with_interval(group, {figure, names[c]}, digits));
  });
  return table.html();
}

std::vector<std::string> row_of(const Json& eval, const std::vector<MainFigure>& figures) {
  std::vector<std::string> row{
      text_of(eval.at("store")), text_of(eval.at("split")), text_of(eval.at("weights")),
      "<code>" + escaped_markup(eval.at("dataset_hash").get<std::string>().substr(0, 12)) +
          "</code>"};
  for (const MainFigure& of : figures) {
    // Another store may lack what a figure needs, as grades.
    const bool there = find_at(eval.at("overall"), of.path) != nullptr;
    row.push_back(there ? with_interval(eval.at("overall"), of.path) : "–");
  }
  return row;
}

std::string other_evaluations(const RunData& data) {
  if (data.other_evals.empty()) return "";
  const auto figures = main_figures(data);
  Table others{{"Store", "Split", "Weights", "Dataset"}, {}, {false, false, false, false}};
  for (const MainFigure& figure : figures) others.head.push_back(figure.name);
  others.numeric.resize(others.head.size(), true);
  std::vector<std::string> strays;
  for (const auto& [name, eval] : data.other_evals) {
    try {
      others.rows.push_back(row_of(eval, figures));
    } catch (const Json::exception&) {
      strays.push_back("<code>" + escaped_markup(name) + "</code>");
    }
  }
  std::string out = "<h3>Other evaluations of this run</h3>";
  if (!others.rows.empty()) out += others.html();
  if (!strays.empty()) {
    out += fmt::format("<p>Left out, since they are no evaluations that can be read: {}.</p>",
                       fmt::join(strays, ", "));
  }
  return out;
}

}  // namespace

std::string group_section(const RunData& data) {
  const auto figures = main_figures(data);
  const JsonPath& sorted_by = figures.front().path;
  std::string kinds;
  for (const GroupKind& kind : group_kinds(data.eval))
    kinds += (kinds.empty() ? "" : ", ") + lowered(kind.word);
  std::string body =
      fmt::format("<p>Sorted by {}, the lowest of each kind first.{}</p>{}<h3>Dice by class</h3>{}",
                  escaped_markup(figures.front().name), interval_text(data.eval.at("overall")),
                  figures_table(data, figures),
                  class_table(data, sorted_by, "dice", data.volumes() ? 1 : 0, 3));
  if (data.volumes()) {
    body += folded("Surface Dice and HD95 (mm; DeepMind’s surface-distance) by class",
                   class_table(data, sorted_by, "surface_dice", 1, 3) +
                       class_table(data, sorted_by, "hd95", 1, 1));
  }
  return section("By " + (kinds.empty() ? "group" : kinds), body + other_evaluations(data));
}

}  // namespace headrace::report
