#include "learn/report/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/text.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/report/compared_runs.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"
#include "learn/report/summary_section.hpp"
#include "learn/report/svg_chart.hpp"

namespace headrace::report {
namespace {

/// A figure's value in the lines of metrics.jsonl, under "validation" or at the line's top.
Series curve(const ComparedRun& run, bool validation, const JsonPath& path) {
  Series series{run.label, run.colour, {}, validation};
  for (const Json& line : run.data.metrics) {
    if (line.contains("validation") != validation) continue;
    const Json value = value_at(validation ? line.at("validation") : line, path);
    if (value.is_number())
      series.points.push_back({line.at("step").get<double>(), value.get<double>()});
  }
  return series;
}

std::string curves(const std::vector<ComparedRun>& runs) {
  struct Kind {
    const char* title;
    bool validation;
    JsonPath path;
    bool to_one;
  };
  const std::vector<Kind> kinds{{"Training loss", false, {"loss"}, false},
                                {"Validation mean Dice", true, {"mean_dice"}, true},
                                {"Validation kappa", true, {"kappa"}, true},
                                {"Validation FROC", true, {"lesion", "froc"}, true},
                                {"Learning rate", false, {"learning_rate"}, false}};
  std::string charts;
  for (const Kind& kind : kinds) {
    Chart chart{kind.title, "step", {}, std::nullopt, {}};
    if (kind.to_one) chart.y_range = {0, 1};
    for (const ComparedRun& run : runs) {
      chart.series.push_back(curve(run, kind.validation, kind.path));
      chart.series.back().last_value = kind.path != JsonPath{"learning_rate"};  // nearly 0 for all
    }
    charts += svg(chart);
  }
  return charts.empty() ? "" : section("Training", "<div class=\"two\">" + charts + "</div>");
}

std::string key_table(const std::vector<ComparedRun>& runs) {
  Table table{{"Run", "Task", "Steps", "Gates"}, {}, {false, false, true, false}};
  for (const MainFigure& of : shared_figures(runs)) {
    table.head.push_back(of.name);
    table.numeric.resize(table.head.size(), true);
  }
  for (const ComparedRun& run : runs) {
    const Json& summary = run.data.summary;
    const Json& gate = run.data.gate;
    const std::string gates = !gate.is_object()             ? "none"
                              : gate.value("passed", false) ? "<span class=\"good\">passed</span>"
                                                            : "<span class=\"off\">missed</span>";
    table.rows.push_back(
        {run_label(run), text_of(run.data.config.at("task")),
         summary.is_object() ? grouped(summary.at("steps").get<std::uint64_t>()) : "unfinished",
         gates});
    for (const MainFigure& of : shared_figures(runs))
      table.rows.back().push_back(figure_cell(run, {}, of.path, 3));
  }
  return table.html();
}

std::string value_text(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  constexpr std::size_t kLongest = 300;
  if (text.size() > kLongest) {
    std::size_t end = kLongest;  // not inside a character
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + " …";
  }
  return "<code>" + escaped_markup(text) + "</code>";
}

/// The keys that are not the same in all runs, with each run's value.
std::string config_section(const std::vector<ComparedRun>& runs) {
  const Json& first = runs.front().data.config;
  std::vector<std::map<std::string, JsonChange>> changes;
  std::set<std::string> keys;
  for (const ComparedRun& run : runs) {
    changes.emplace_back();
    for (JsonChange& change : changes_between(first, run.data.config)) {
      keys.insert(change.key);
      changes.back().emplace(change.key, std::move(change));
    }
  }
  Table table{{"Key"}, {}, {}};
  for (const ComparedRun& run : runs) table.head.push_back(run_label(run));
  for (const std::string& key : keys) {
    Json same;  // the first run's
    for (const auto& of : changes) {
      if (const auto found = of.find(key); found != of.end()) same = found->second.before;
    }
    std::vector<std::string> row{"<code>" + escaped_markup(key) + "</code>"};
    for (const auto& of : changes) {
      const auto found = of.find(key);
      row.push_back(value_text(found != of.end() ? found->second.after : same));
    }
    table.rows.push_back(std::move(row));
  }
  return section("Config keys that differ",
                 keys.empty() ? "<p>None: the configs are equal, paths by their last names.</p>"
                              : table.html("wrapped"));
}

/// Whether the figures may be held against each other. `judged`: how many sets of images there are.
std::string data_text(std::size_t judged, std::size_t evaluated, std::size_t runs) {
  const std::string missing =
      evaluated == runs
          ? ""
          : fmt::format("<p>{} of {} runs have no evaluation.</p>", runs - evaluated, runs);
  if (judged > 1) {
    return missing +
           "<div class=\"notice\"><b>Not the same images.</b> The runs were judged on other "
           "datasets, splits, images or labels, so their figures can’t be compared one by "
           "one.</div>";
  }
  if (evaluated < 2) return missing;
  return missing + (evaluated == runs ? "<p>All" : "<p>The others") +
         " were judged on the same images of the same dataset. <code>headrace diff</code> of two "
         "runs gives intervals of the differences, by resampling the same cases.</p>";
}

/// Dataset, split and weights of each, and whether the figures are of the same images.
std::string data_section(const std::vector<ComparedRun>& runs) {
  Table table{
      {"Run", "Dataset trained on", "Judged on", "Split", "Images", "Cases", "Code", "Weights"},
      {},
      {false, false, false, false, true, true, false, false}};
  std::set<std::string> judged;
  std::size_t evaluated = 0;
  const auto hash = [](const Json& value) {
    return value.is_string()
               ? "<code>" + escaped_markup(value.get<std::string>().substr(0, 12)) + "</code>"
               : std::string("–");
  };
  for (const ComparedRun& run : runs) {
    const Json& eval = run.data.eval;
    const bool has = eval.is_object();
    if (has) judged.insert(judged_images(run));
    evaluated += has ? 1 : 0;
    table.rows.push_back(
        {run_label(run), hash(run.data.run.at("dataset_hash")),
         hash(has ? eval.value("dataset_hash", Json()) : Json()),
         has ? text_of(eval.at("split")) : "–",
         has ? std::to_string(eval.at("images").size()) : "–",
         has ? std::to_string(count_cases(eval, nullptr, "")) : "–",
         text_of(run.data.run.at("code_version")),
         hash(run.data.summary.is_object() ? run.data.summary.value("weights_sha256", Json())
                                           : Json())});
  }
  return section("Data", data_text(judged.size(), evaluated, runs.size()) + table.html());
}

}  // namespace

std::string render_comparison(const std::vector<std::filesystem::path>& paths) {
  if (paths.size() < 2) fail(ErrorCode::usage, "A comparison needs two runs or more.");
  std::vector<std::string> of;
  for (const std::filesystem::path& path : paths) of.push_back(path.string());
  return made_of(fmt::format("{}", fmt::join(of, ", ")), [&] {
    const std::vector<ComparedRun> runs = read_compared(paths);
    std::string names;
    for (const ComparedRun& run : runs) names += (names.empty() ? "" : " · ") + run_label(run);
    const std::string body =
        fmt::format("<header><h1>{} runs beside each other</h1><p>{}</p></header>\n", runs.size(),
                    names) +
        section("Main figures", key_table(runs)) + data_section(runs) + curves(runs) +
        figures_by_group(runs) + config_section(runs);
    return page(fmt::format("{} Headrace runs", runs.size()), body,
                runs.front().data.run.at("code_version").get<std::string>());
  });
}

}  // namespace headrace::report
