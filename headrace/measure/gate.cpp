#include "headrace/measure/gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::measure {
namespace {

/// Every number and null of a nested object by its path.
void collect(const Json& value, const std::string& path,
             std::vector<std::pair<std::string, Json>>& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      collect(child, path.empty() ? key : path + "." + key, out);
    }
  } else if (value.is_number() || value.is_null()) {
    out.emplace_back(path, value);
  }
}

/// Figures of all images by their path there; those of groups after the group's path.
std::vector<std::pair<std::string, Json>> figures_of(const Json& evaluation) {
  std::vector<std::pair<std::string, Json>> out;
  collect(evaluation.at("overall"), "", out);
  for (const char* groups : {"cohorts", "scanners", "phases", "cases"}) {
    if (evaluation.contains(groups)) collect(evaluation.at(groups), groups, out);
  }
  return out;
}

}  // namespace

bool GateResult::passed() const {
  return std::all_of(figures.begin(), figures.end(),
                     [](const GateFigure& f) { return f.passed(); });
}

Json GateResult::to_json() const {
  Json out = {{"passed", passed()}, {"figures", Json::object()}};
  for (const GateFigure& figure : figures) {
    Json& entry = out["figures"][figure.name];
    entry = {{"found", or_null(figure.found)}, {"passed", figure.passed()}};
    if (figure.least) entry["least"] = *figure.least;
    if (figure.most) entry["most"] = *figure.most;
  }
  return out;
}

std::string GateResult::text() const {
  std::string out;
  for (const GateFigure& figure : figures) {
    std::vector<std::string> asked;
    if (figure.least) asked.push_back(fmt::format("at least {}", *figure.least));
    if (figure.most) asked.push_back(fmt::format("at most {}", *figure.most));
    out += figure.found ? fmt::format("gate {}: {} {:.4f}, {} asked for\n",
                                      figure.passed() ? "passed" : "MISSED", figure.name,
                                      *figure.found, fmt::join(asked, " and "))
                        : fmt::format("gate MISSED: {} is undefined on this split; {} asked for\n",
                                      figure.name, fmt::join(asked, " and "));
  }
  return out;
}

Gate::Gate(YamlMap map, std::string file) : file_(std::move(file)) {
  for (const std::string& key : map.keys()) {
    const YamlValue value = map.require(key);
    GateFigure figure{key, {}, {}, {}};
    if (value.is_map()) {
      YamlMap bounds(value);
      if (const auto least = bounds.find("least")) figure.least = least->as_double(-1e9, 1e9);
      if (const auto most = bounds.find("most")) figure.most = most->as_double(-1e9, 1e9);
      bounds.finish();
      if (!figure.least && !figure.most)
        value.reject("expected least, most or both, found neither");
    } else {
      figure.least = value.as_double(-1e9, 1e9);
    }
    asked_.push_back(std::move(figure));
  }
}

Gate Gate::load(const std::string& file) { return Gate(YamlMap::load(file), file); }

Gate Gate::parse(const std::string& text, const std::string& name) {
  return Gate(YamlMap::parse(text, name), name);
}

GateResult Gate::check(const Json& evaluation) const {
  GateResult result;
  if (asked_.empty()) return result;
  const auto all = figures_of(evaluation);
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  for (const GateFigure& asked : asked_) {
    const std::string& name = asked.name;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const auto nearest = nearest_name(name, names);
      std::vector<std::pair<std::string, Json>> overall;
      collect(evaluation.at("overall"), "", overall);
      names.resize(overall.size());  // they come first
      fail(ErrorCode::usage, "{}: '{}' is not a figure of this evaluation{}.", file_, name,
           nearest ? fmt::format("; did you mean '{}'?", *nearest)
                   : fmt::format("; there are {}, and the same of groups, as "
                                 "cohorts.NAME.mean_dice",
                                 fmt::join(names, ", ")));
    }
    const Json& value = all[static_cast<std::size_t>(found - names.begin())].second;
    result.figures.push_back(asked);
    if (!value.is_null()) result.figures.back().found = value.get<double>();
  }
  return result;
}

}  // namespace headrace::measure
