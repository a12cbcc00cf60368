#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/read_file.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/measure/gate.hpp"

namespace headrace::measure {
namespace {

constexpr double kMost = 1e9;  ///< of a bound
const std::vector<std::string> kEach{"each cohort", "each scanner", "each phase", "each case"};

std::string scope_of(const YamlValue& value) {
  const std::string scope = value.as_string();
  for (const char* kind : kGroupKinds) {
    const std::string start = std::string(kind) + ".";
    if (scope.starts_with(start) && scope.size() > start.size()) return scope;
  }
  std::vector<std::string> known{"overall"};
  known.insert(known.end(), kEach.begin(), kEach.end());
  if (std::find(known.begin(), known.end(), scope) != known.end()) return scope;
  const auto nearest = nearest_name(scope, known);
  value.reject(fmt::format("'{}' is no scope. There are {}, and single groups, as cohorts.NAME{}",
                           scope, fmt::join(known, ", "),
                           nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
}

void read_bounds(YamlMap& map, const YamlValue& place, GateEntry& entry) {
  if (const auto least = map.find("least")) entry.least = least->as_double(-kMost, kMost);
  if (const auto most = map.find("most")) entry.most = most->as_double(-kMost, kMost);
  if (!entry.least && !entry.most) place.reject("expected least, most or both, found neither");
  if (entry.least && entry.most && *entry.least > *entry.most) {
    place.reject(fmt::format("least {} is above most {}, so that nothing can pass", *entry.least,
                             *entry.most));
  }
}

GateEntry entry_of(const YamlValue& value) {
  YamlMap map(value);
  GateEntry entry;
  entry.location = value.location();
  entry.figure = map.require("figure").as_string();
  if (const auto scope = map.find("scope")) entry.scope = scope_of(*scope);
  if (const auto bound = map.find("bound"))
    entry.bound = *value_named<GateBound>(bound->as_choice({"value", "lower", "upper"}));
  if (const auto worse = map.find("worse_than_promoted"))
    entry.worse_than_promoted = worse->as_double(0, kMost);
  read_bounds(map, value, entry);
  map.finish();
  return entry;
}

/// {figure: least}, {figure: {least, most}}
std::vector<GateEntry> entries_of_mapping(YamlMap map) {
  std::vector<GateEntry> out;
  for (const std::string& key : map.keys()) {
    const YamlValue value = map.require(key);
    GateEntry entry;
    entry.figure = key;
    entry.location = value.location();
    if (value.is_map()) {
      YamlMap bounds(value);
      read_bounds(bounds, value, entry);
      bounds.finish();
    } else {
      entry.least = value.as_double(-kMost, kMost);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

Json GateEntry::to_json() const {
  Json out = {{"figure", figure}, {"scope", scope}, {"bound", name_of(bound)}};
  if (least) out["least"] = *least;
  if (most) out["most"] = *most;
  if (worse_than_promoted) out["worse_than_promoted"] = *worse_than_promoted;
  return out;
}

Gate Gate::read(const YamlValue& value) {
  Gate gate;
  if (value.is_null()) return gate;
  if (!value.is_list()) {
    YamlMap map(value);
    if (map.has("gates")) {
      const YamlValue inner = map.require("gates");
      map.finish();
      return read(inner);
    }
    gate.entries_ = entries_of_mapping(map);
    return gate;
  }
  for (const YamlValue& entry : value.as_list()) gate.entries_.push_back(entry_of(entry));
  return gate;
}

Gate Gate::load(const std::string& file) {
  Gate gate = parse(read_file(file, kMostConfigBytes), file);
  if (gate.empty()) {
    fail(ErrorCode::usage,
         "{}: asks for nothing, so that everything would pass. State at least one figure, e.g. "
         "`- {{figure: mean_dice, least: 0.7}}`",
         file);
  }
  return gate;
}

Gate Gate::parse(const std::string& text, const std::string& name) {
  return read(YamlValue::parse(text, name));
}

Json Gate::to_json() const {
  Json out = Json::array();
  for (const GateEntry& entry : entries_) out.push_back(entry.to_json());
  return out;
}

Gate Gate::with(const Gate& other) const {
  Gate both = *this;
  for (const GateEntry& entry : other.entries_) {
    if (std::find(both.entries_.begin(), both.entries_.end(), entry) == both.entries_.end())
      both.entries_.push_back(entry);
  }
  return both;
}

}  // namespace headrace::measure
