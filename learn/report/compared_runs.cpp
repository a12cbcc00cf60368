#include "learn/report/compared_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/summary_section.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kGroupsShown = 60;

/// The group's figures in a run; null where it has none.
const Json* group_of(const ComparedRun& run, const JsonPath& group) {
  if (!run.data.eval.is_object()) return nullptr;
  return find_at(run.data.eval, group.empty() ? JsonPath{"overall"} : group);
}

/// {word, path} of every group that any run has.
struct Group {
  std::string kind, name;
  JsonPath path;
};

std::vector<Group> groups_of(const std::vector<ComparedRun>& runs) {
  std::vector<Group> out{{"All", "", {}}};
  for (const char* key : {"cohorts", "scanners", "phases"}) {
    std::map<std::string, std::string> names;  // and the kind's word
    for (const ComparedRun& run : runs) {
      if (!run.data.eval.is_object()) continue;
      for (const GroupKind& kind : group_kinds(run.data.eval)) {
        if (std::string(kind.key) != key) continue;
        for (const auto& [name, group] : run.data.eval.at(key).items()) names[name] = kind.word;
      }
    }
    for (const auto& [name, word] : names) out.push_back({word, name, {key, name}});
  }
  return out;
}

std::string group_table(const std::vector<ComparedRun>& runs, const std::vector<Group>& groups,
                        const JsonPath& path) {
  Table table{{"", "Name"}, {}, {false, false}};
  for (const ComparedRun& run : runs) table.head.push_back(run_label(run));
  table.numeric.resize(table.head.size(), true);
  for (std::size_t g = 0; g < groups.size() && g < kGroupsShown; ++g) {
    std::vector<std::string> row{groups[g].kind, escaped_markup(groups[g].name)};
    for (const ComparedRun& run : runs) row.push_back(figure_cell(run, groups[g].path, path, 3));
    table.rows.push_back(std::move(row));
  }
  return table.html() + (groups.size() > kGroupsShown
                             ? fmt::format("<p>{} more groups are in the runs’ eval.json.</p>",
                                           groups.size() - kGroupsShown)
                             : "");
}

}  // namespace

std::vector<ComparedRun> read_compared(const std::vector<std::filesystem::path>& runs) {
  std::vector<ComparedRun> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ComparedRun run{read_run(runs[i]), "", pixels::css(pixels::class_colour(i + 1))};
    const std::string letter =
        i < 26 ? std::string(1, static_cast<char>('A' + i)) : std::to_string(i + 1);
    run.label = letter + ": " + run_name(run.data);
    out.push_back(std::move(run));
  }
  return out;
}

std::string run_label(const ComparedRun& run) {
  return fmt::format("<span class=\"chip\" style=\"background:{}\"></span>{}", run.colour,
                     escaped_markup(run.label));
}

std::vector<MainFigure> shared_figures(const std::vector<ComparedRun>& runs) {
  std::vector<MainFigure> out;
  for (const ComparedRun& run : runs) {
    if (!run.data.eval.is_object()) continue;
    for (const MainFigure& of : main_figures(run.data)) {
      const bool known = std::any_of(out.begin(), out.end(),
                                     [&](const MainFigure& f) { return f.path == of.path; });
      if (!known) out.push_back(of);
    }
  }
  return out;
}

std::string figure_cell(const ComparedRun& run, const JsonPath& group, const JsonPath& path,
                        int digits) {
  const Json* figures = group_of(run, group);
  if (figures == nullptr || find_at(*figures, path) == nullptr) return "–";
  return with_interval(*figures, path, digits);
}

std::string judged_images(const ComparedRun& run) {
  if (!run.data.eval.is_object()) return "";
  std::string out = run.data.eval.value("dataset_hash", Json()).dump() + "\n" +
                    run.data.config.at("data").value("labels", Json()).dump();
  for (const Json& image : run.data.eval.at("images")) out += "\n" + image.at("id").dump();
  return out;
}

std::string figures_by_group(const std::vector<ComparedRun>& runs) {
  const auto groups = groups_of(runs);
  std::string body;
  for (const MainFigure& of : shared_figures(runs))
    body += "<h3>" + escaped_markup(of.name) + "</h3>" + group_table(runs, groups, of.path);
  std::vector<std::string> classes;
  for (const ComparedRun& run : runs) {
    if (!run.data.eval.is_object()) continue;
    for (const std::string& name : names_of(run.data.eval.at("classes"))) {
      if (std::find(classes.begin(), classes.end(), name) == classes.end()) classes.push_back(name);
    }
  }
  std::string by_class;
  for (std::size_t c = 0; c < classes.size(); ++c)
    by_class += "<h3>Dice of " + class_label(classes[c], c) + "</h3>" +
                group_table(runs, groups, {"dice", classes[c]});
  if (!by_class.empty()) body += folded("Dice by class", by_class);
  return section("Figures by group", body.empty() ? ""
                                                  : "<p>Small figures: 95 % intervals by "
                                                    "resampling cases.</p>" +
                                                        body);
}

}  // namespace headrace::report
