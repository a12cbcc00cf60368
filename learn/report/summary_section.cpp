#include "learn/report/summary_section.hpp"

#include <fmt/format.h>

#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"

namespace headrace::report {
namespace {

/// "at least 0.7 and at most 10", from the bounds that a gate states.
std::string asked_for(const Json& entry) {
  std::string out;
  for (const auto& [key, word] : {std::pair{"least", "at least"}, std::pair{"most", "at most"}}) {
    const Json bound = entry.value(key, Json());
    if (!bound.is_number()) continue;
    out += fmt::format("{}{} {:g}", out.empty() ? "" : " and ", word, bound.get<double>());
  }
  const Json margin = entry.value("worse_than_promoted", Json());
  if (margin.is_number())
    out += fmt::format("{}at most {:g} worse than what is promoted", out.empty() ? "" : ", ",
                       margin.get<double>());
  return out;
}

/// A text of a gate under one of several names; empty where there is none.
std::string word_of(const Json& entry, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const Json value = entry.value(key, Json());
    if (value.is_string()) return value.get<std::string>();
  }
  return "";
}

/// Why a gate can't be held, where its entry says so.
std::string why(const Json& entry) {
  const std::string text = word_of(entry, {"why"});
  return text.empty() ? "" : ": " + escaped_markup(text);
}

/// " (2 cases: no interval)" where the figure alone was held.
std::string few_cases(const Json& entry) {
  const std::string text = word_of(entry, {"no_interval"});
  return text.empty() ? "" : fmt::format(" <small>({})</small>", escaped_markup(text));
}

/// Rounded, but in full where a miss, rounded, would read as what was asked for.
std::string found_text(const Json& entry, double found, bool held) {
  const auto rounded = [](double value) { return fmt::format("{:.4g}", value); };
  for (const char* key : {"least", "most"}) {
    const Json bound = entry.value(key, Json());
    if (!held && bound.is_number() && rounded(bound.get<double>()) == rounded(found))
      return fmt::format("{}", found);
  }
  return rounded(found);
}

struct Entry {
  std::string name;
  const Json* json;
};

/// Figures of a gate are a list, or a mapping by name.
std::vector<Entry> entries_of(const Json& gate) {
  std::vector<Entry> out;
  const auto figures = gate.find("figures");
  if (figures == gate.end()) return out;
  if (figures->is_object()) {
    for (const auto& [name, entry] : figures->items()) out.push_back({name, &entry});
  } else if (figures->is_array()) {
    for (const Json& entry : *figures) out.push_back({word_of(entry, {"figure", "name"}), &entry});
  }
  return out;
}

}  // namespace

std::string run_name(const RunData& data) {
  return std::filesystem::absolute(data.path / "x")
      .lexically_normal()
      .parent_path()
      .filename()
      .string();
}

std::string header(const RunData& data) {
  std::string out = fmt::format(
      "<header><h1>{}</h1><p>Headrace run · task {} · {} · cohorts {} · {} images in the "
      "store</p></header>\n",
      escaped_markup(run_name(data)), text_of(data.config.at("task")),
      data.run.contains("phases") ? "volumes" : "slides",
      joined_names(data.run.value("cohorts", Json::array())),
      data.run.at("images").get<std::uint64_t>());
  if (data.phantom()) {
    out +=
        "<div class=\"notice\"><b>Phantoms.</b> These images are synthetic. Their figures prove "
        "the path, not a model’s worth in the clinic.</div>\n";
  }
  if (data.promoted) {
    out +=
        "<div class=\"notice\">A promoted model: the registry has no record of its training "
        "beside it.</div>\n";
  } else if (data.summary.is_null()) {
    out +=
        "<div class=\"notice\">This run has not come to its end; what follows is what there "
        "is.</div>\n";
  }
  return out;
}

std::string verdict_of(const Json& gate) {
  const auto entries = entries_of(gate);
  const bool passed = gate.value("passed", false);
  std::size_t missed = 0;
  // Few columns, the outcome first: a telephone cuts off what it has no room for.
  Table table{{"", "Figure", "Asked for", "Found"}, {}, {false, false, false, true}};
  for (const auto& [name, entry] : entries) {
    const bool held = entry->value("passed", false);
    missed += held ? 0 : 1;
    const std::string bound = word_of(*entry, {"bound"});
    const Json found = entry->value("found", Json());
    table.rows.push_back(
        {held ? "<span class=\"good\">✓ held</span>" : "<span class=\"off\">✗ missed</span>",
         fmt::format("<code>{}</code> <small>{}</small>", escaped_markup(name),
                     escaped_markup(word_of(*entry, {"group", "scope", "of"}))),
         asked_for(*entry) + (bound.empty() || bound == "value"
                                  ? ""
                                  : escaped_markup(fmt::format(", {} end of the interval", bound))),
         found.is_number() ? found_text(*entry, found.get<double>(), held) + few_cases(*entry)
                           : "undefined" + why(*entry)});
  }
  const std::string file = word_of(gate, {"file"});
  const std::string gates =
      file.empty() ? "Gates" : fmt::format("Gates of {}, not the run’s own,", escaped_markup(file));
  const std::string title =
      passed ? fmt::format("{} passed: all {} hold.", gates, entries.size())
             : fmt::format("{} missed: {} of {}.", gates, missed, entries.size());
  return fmt::format("<div class=\"verdict {}\"><b>{}</b>{}</div>\n", passed ? "passed" : "missed",
                     title, entries.empty() ? "" : table.html("wrapped"));
}

std::string verdict(const RunData& data) {
  const std::string of_file = data.file_gate.is_object() ? verdict_of(data.file_gate) : "";
  if (data.gate.is_object()) return verdict_of(data.gate) + of_file;
  if (data.eval.is_null()) return "";
  return of_file +
         "<div class=\"verdict\">No gates: nothing states which figures this run must "
         "reach.</div>\n";
}

std::string key_figures(const RunData& data) {
  if (data.eval.is_null()) return "";
  const Json& overall = data.eval.at("overall");
  const Json baseline =
      data.eval.value("baseline", Json::object()).value("overall", Json::object());
  std::string out;
  for (const MainFigure& of : main_figures(data)) {
    std::string beside = interval_of(overall, of.path);
    if (!beside.empty()) beside = "95 %: " + beside;
    if (overall.contains("no_interval")) beside = text_of(overall.at("no_interval"));
    const Json known_nothing = value_at(baseline, of.path);
    if (known_nothing.is_number())
      beside += (beside.empty() ? "" : " · ") + ("baseline " + figure(known_nothing));
    out += tile(figure(value_at(overall, of.path)), escaped_markup(of.name), beside);
  }
  out += tile(std::to_string(count_cases(data.eval, nullptr, "")), "cases judged",
              fmt::format("{} images of split {}", data.eval.at("images").size(),
                          text_of(data.eval.at("split"))));
  return "<div class=\"tiles\">" + out + "</div>\n";
}

}  // namespace headrace::report
