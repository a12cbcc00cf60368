#include "headrace/train/gate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::train {
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

}  // namespace

bool GateResult::passed() const {
  return std::all_of(figures.begin(), figures.end(),
                     [](const GateFigure& f) { return f.passed(); });
}

Json GateResult::to_json() const {
  Json out = {{"passed", passed()}, {"figures", Json::object()}};
  for (const GateFigure& figure : figures) {
    out["figures"][figure.name] = {{"least", figure.least},
                                   {"found", figure.found ? Json(*figure.found) : Json(nullptr)},
                                   {"passed", figure.passed()}};
  }
  return out;
}

std::string GateResult::text() const {
  std::string out;
  for (const GateFigure& figure : figures) {
    out += fmt::format("gate {}: {} {}, at least {} asked for\n",
                       figure.passed() ? "passed" : "MISSED", figure.name,
                       figure.found ? fmt::format("{:.4f}", *figure.found) : "undefined",
                       figure.least);
  }
  return out;
}

Gate::Gate(YamlMap map, std::string file) : file_(std::move(file)) {
  for (const std::string& key : map.keys()) {
    least_.emplace_back(key, map.require(key).as_double(-1e9, 1e9));
  }
}

Gate Gate::load(const std::string& file) { return Gate(YamlMap::load(file), file); }

Gate Gate::parse(const std::string& text, const std::string& name) {
  return Gate(YamlMap::parse(text, name), name);
}

GateResult Gate::check(const Json& figures) const {
  std::vector<std::pair<std::string, Json>> all;
  collect(figures, "", all);
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  GateResult result;
  for (const auto& [name, least] : least_) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const auto nearest = nearest_name(name, names);
      fail(ErrorCode::usage, "{}: '{}' is no figure of this evaluation{}.", file_, name,
           nearest ? fmt::format("; did you mean '{}'?", *nearest)
                   : fmt::format("; there are {}", fmt::join(names, ", ")));
    }
    const Json& value = all[static_cast<std::size_t>(found - names.begin())].second;
    result.figures.push_back(
        {name, least, value.is_null() ? std::nullopt : std::optional<double>(value.get<double>())});
  }
  return result;
}

}  // namespace headrace::train
