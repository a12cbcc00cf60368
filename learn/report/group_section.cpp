#include "learn/report/group_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"

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

/// The main figures, and after them others that have a column.
std::vector<MainFigure> columns_of(const RunData& data) {
  std::vector<MainFigure> out = main_figures(data);
  for (const measure::Figure* row :
       measure::figures_at(&measure::Figure::group_column, kind_of(data.eval))) {
    const JsonPath path = row->path();
    const bool main =
        std::any_of(out.begin(), out.end(), [&](const MainFigure& of) { return of.path == path; });
    if (main) continue;
    out.push_back({measure::filled(row->group_column.text, "", region_word(data.eval)), path});
  }
  return out;
}

std::string figures_table(const RunData& data) {
  const std::vector<MainFigure> figures = columns_of(data);
  std::vector<std::string> columns;
  const bool lesions = data.eval.at("overall").contains("lesion");
  if (lesions) columns.push_back("Lesions");
  for (const MainFigure& figure : figures) columns.push_back(figure.name);
  Table table = table_of(data, columns);
  add_rows(data, figures.front().path, /*marked=*/true, table, [&](const Json& group, auto& row) {
    if (lesions)
      row.push_back(std::to_string(group.at("lesion").at("lesions").template get<std::uint64_t>()));
    for (const MainFigure& figure : figures) row.push_back(with_interval(group, figure.path));
  });
  return table.html();
}

/// A figure that each class has.
std::string class_table(const RunData& data, const JsonPath& sorted_by, const measure::Figure& of) {
  const auto names = names_of(data.eval.at("classes"));
  const std::size_t first = of.background && !data.volumes() ? 0 : 1;
  std::vector<std::string> columns;
  for (std::size_t c = first; c < names.size(); ++c) columns.push_back(class_label(names[c], c));
  Table table = table_of(data, columns);
  add_rows(data, sorted_by, /*marked=*/false, table, [&](const Json& group, auto& row) {
    for (std::size_t c = first; c < names.size(); ++c)
      row.push_back(with_interval(group, of.path(names[c]), of.digits));
  });
  return table.html();
}

/// The first figure of classes open, the others folded.
std::string class_tables(const RunData& data, const JsonPath& sorted_by) {
  const auto rows = measure::figures_at(&measure::Figure::by_group, kind_of(data.eval));
  std::string open, names, tables;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::string name(rows[r]->by_group.text);
    const std::string table = class_table(data, sorted_by, *rows[r]);
    if (r == 0) {
      open = fmt::format("<h3>{} by class</h3>{}", name, table);
      continue;
    }
    names += (r == 1 ? "" : r + 1 == rows.size() ? " and " : ", ") + name;
    tables += table;
  }
  return tables.empty() ? open : open + folded(names + " by class", tables);
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
  const std::string body =
      fmt::format("<p>Sorted by {}, the lowest of each kind first.{}</p>{}{}",
                  escaped_markup(figures.front().name), interval_text(data.eval.at("overall")),
                  figures_table(data), class_tables(data, sorted_by));
  return section("By " + (kinds.empty() ? "group" : kinds), body + other_evaluations(data));
}

}  // namespace headrace::report
