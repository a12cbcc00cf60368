#include "learn/report/folds_report.hpp"

#include <fmt/format.h>

#include "headrace/core/option_name.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"
#include "learn/report/run_data.hpp"
#include "learn/report/summary_section.hpp"

namespace headrace::report {
namespace {

constexpr const char* kSpread =
    "<p>The standard deviation is that of n - 1. Folds share most of what they train "
    "on, so it is too small for what training on other patients would give. The intervals of all "
    "folds together resample cases, each judged by the network that never saw it; that training "
    "again would give other networks is not in them.</p>";

/// A folder of folds; its folds are alike, so the first says what figures matter.
struct FoldsData {
  Json folds;  ///< folds.json
  RunData first;
  std::vector<MainFigure> figures;
};

FoldsData read_folds(const std::filesystem::path& path) {
  const std::filesystem::path file = path / "folds.json";
  if (!std::filesystem::exists(file)) {
    fail(ErrorCode::not_found,
         "{} is missing: not all folds are finished. Give the command that trained them once more, "
         "with {}",
         file.string(), Option{"resume"});
  }
  FoldsData out{parse_json(read_file(file), file.string()), read_run(path / "fold-0"), {}};
  out.figures = main_figures(out.first);
  return out;
}

std::string tiles(const FoldsData& data) {
  const Json& overall = data.folds.at("pooled").at("overall");
  std::string out;
  for (const MainFigure& of : data.figures) {
    if (find_at(overall, of.path) == nullptr) continue;  // not pooled
    const std::string interval = interval_of(overall, of.path);
    out += tile(figure(value_at(overall, of.path)), escaped_markup(of.name),
                !interval.empty()                 ? "95 %: " + interval
                : overall.contains("no_interval") ? text_of(overall.at("no_interval"))
                                                  : "");
  }
  out += tile(overall.at("cases").dump(), "cases, each judged by the fold that never saw it",
              fmt::format("{} images", overall.at("images").dump()));
  return "<div class=\"tiles\">" + out + "</div>\n";
}

std::string pooled_section(const FoldsData& data) {
  Table table{{"", "Cases", "Images"}, {}, {false, true, true}};
  for (const MainFigure& of : data.figures) table.head.push_back(of.name);
  table.numeric.resize(table.head.size(), true);
  const auto add = [&](const std::string& name, const Json& group) {
    table.rows.push_back({name, group.at("cases").dump(), group.at("images").dump()});
    for (const MainFigure& of : data.figures) {
      const bool there = find_at(group, of.path) != nullptr;
      table.rows.back().push_back(there ? with_interval(group, of.path) : "not pooled");
    }
  };
  const Json& pooled = data.folds.at("pooled");
  add("All", pooled.at("overall"));
  for (const auto& [name, group] : pooled.at("cohorts").items()) add(escaped_markup(name), group);
  return section("All folds together, by cohort", table.html());
}

std::string spread_section(const FoldsData& data) {
  const Json& overall = data.folds.at("over_folds").at("overall");
  const std::size_t count = data.folds.at("folds").size();
  Table table{{"Figure"}, {}, {false}};
  for (std::size_t f = 0; f < count; ++f) table.head.push_back(fmt::format("fold-{}", f));
  for (const char* word : {"Mean", "Standard deviation"}) table.head.emplace_back(word);
  table.numeric.resize(table.head.size(), true);
  for (const MainFigure& of : data.figures) {
    const Json spread = value_at(overall, of.path);
    if (!spread.is_object()) continue;
    table.rows.push_back({escaped_markup(of.name)});
    for (const Json& value : spread.at("values")) table.rows.back().push_back(figure(value));
    for (const char* key : {"mean", "sd"}) table.rows.back().push_back(figure(spread.at(key)));
  }
  return section("Over the folds", kSpread + table.html());
}

std::string list_section(const FoldsData& data) {
  Table table{
      {"Fold", "Steps", "Cases", "Images", "Mean Dice"}, {}, {false, true, true, true, true}};
  std::size_t number = 0;
  for (const Json& fold : data.folds.at("folds")) {
    const std::string name = fmt::format("fold-{}", number++);
    table.rows.push_back({fmt::format("<a href=\"{0}/report.html\">{0}</a>", name),
                          grouped(fold.at("steps").get<std::uint64_t>()), fold.at("cases").dump(),
                          fold.at("images").dump(), figure(fold.at("mean_dice"))});
  }
  return section("The folds, each with its report", table.html());
}

}  // namespace

std::string render_folds(const std::filesystem::path& folds) {
  return made_of(folds.string(), [&] {
    FoldsData data = read_folds(folds);
    data.first.path = folds;
    const std::string name = run_name(data.first);
    const std::string header = fmt::format(
        "<header><h1>{}</h1><p>Cross-validation by patient · {} folds · task {} · dataset "
        "<code>{}</code></p></header>\n",
        escaped_markup(name), data.folds.at("folds").size(), text_of(data.first.config.at("task")),
        escaped_markup(data.folds.at("dataset_hash").get<std::string>().substr(0, 12)));
    return page(
        name + ", Headrace folds",
        header + tiles(data) + pooled_section(data) + spread_section(data) + list_section(data),
        data.first.run.at("code_version").get<std::string>());
  });
}

}  // namespace headrace::report
