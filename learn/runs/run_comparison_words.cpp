#include <fmt/format.h>

#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/figure_table.hpp"
#include "learn/runs/run_comparison.hpp"

namespace headrace::runs {
namespace {

constexpr std::size_t kHashDigits = 16;

std::string number(const Json& value) {
  return value.is_number() ? fmt::format("{:.4f}", value.get<double>()) : "undefined";
}

std::string interval(const Json& ends) {
  if (!ends.is_array()) return "";
  return fmt::format(" ({:.4f} to {:.4f})", ends.at(0).get<double>(), ends.at(1).get<double>());
}

/// A value of a config or of run.json; of long texts, such as hashes, the beginning.
std::string value_text(const Json& value) {
  if (value.is_null()) return "nothing";
  if (value.is_object() && value.contains("file") && value.contains("sha256"))
    return fmt::format("{} (SHA-256 {})", value_text(value.at("file")),
                       value_text(value.at("sha256")));
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos
             ? text.substr(0, kHashDigits)
             : text;
}

std::string changes(const Json& list, const std::string& title) {
  std::string out;
  for (const Json& change : list) {
    out += fmt::format("{} {}: {} -> {}\n", title, change.at("key").get<std::string>(),
                       value_text(change.at("before")), value_text(change.at("after")));
  }
  return out;
}

/// Whether a figure is one of those that are printed; all are in the JSON.
bool is_main(const std::string& figure) {
  const measure::Figure* row = measure::find_figure(figure);
  return row != nullptr && row->compared;
}

std::string figures(const std::string& name, const Json& group) {
  std::string out;
  for (const auto& [figure, values] : group.at("figures").items()) {
    if (!is_main(figure)) continue;
    if (values.at("before").is_null() && values.at("after").is_null()) continue;
    out += fmt::format("  {:<28} {}{} -> {}{}", figure, number(values.at("before")),
                       interval(values.at("before_interval_95")), number(values.at("after")),
                       interval(values.at("after_interval_95")));
    if (values.at("difference").is_number()) {
      out += fmt::format("   {:+.4f}{}", values.at("difference").get<double>(),
                         interval(values.at("difference_interval_95")));
    }
    out += '\n';
  }
  const auto cases = group.at("paired_cases").get<std::size_t>();
  const bool few = cases < measure::kLeastCasesOfIntervals;
  const std::string paired = cases == 0 ? ""
                             : few ? fmt::format(", of both {}", measure::no_interval_text(cases))
                                   : fmt::format(", {} cases in both", cases);
  return out.empty() ? "" : fmt::format("{}{}:\n{}", name, paired, out);
}

/// Parts of run.json: those that differ, then lists of the others.
std::string parts_of_the_run(const Json& parts) {
  std::string out, same, neither;
  const auto add = [](std::string& list, const std::string& key) {
    list += (list.empty() ? "" : ", ") + key;
  };
  for (const auto& [key, part] : parts.items()) {
    if (part.at("same") == true) {
      add(same, key);
    } else if (part.at("same") == false) {
      out += changes(part.at("changes"), "run");
    } else if (part.at("recorded_by").empty()) {
      add(neither, key);
    } else {
      out += fmt::format("run {}: only the {} run records it\n", key,
                         part.at("recorded_by").at(0) == "before" ? "first" : "second");
    }
  }
  if (!same.empty()) out += fmt::format("the same: {}\n", same);
  if (!neither.empty())
    out += fmt::format("neither run records it, as those of earlier versions: {}\n", neither);
  return out;
}

}  // namespace

std::string in_words(const Json& comparison) {
  std::string out = fmt::format("{} -> {}\n", value_text(comparison.at("before").at("run")),
                                value_text(comparison.at("after").at("run")));
  const Json& config = comparison.at("config");
  out += changes(config.at("decides"), "config");
  out += changes(config.at("decides_nothing"), "config (decides neither batches nor weights)");
  if (config.at("decides").empty())
    out += "config: nothing differs that decides batches or weights\n";
  out += parts_of_the_run(comparison.at("run"));
  const Json& evaluation = comparison.at("evaluation");
  if (evaluation.at("paired") == false) {
    out += fmt::format("differences have no intervals: {}\n",
                       evaluation.at("why_not_paired").get<std::string>());
  } else {
    out += fmt::format(
        "figures with 95 % intervals, of {} cases or more; of differences by paired bootstrap over "
        "cases\n",
        measure::kLeastCasesOfIntervals);
  }
  const Json& groups = evaluation.at("groups");
  if (groups.contains("overall")) out += figures("overall", groups.at("overall"));
  for (const auto& [name, group] : groups.items()) {
    if (name != "overall") out += figures(name, group);
  }
  return out;
}

}  // namespace headrace::runs
