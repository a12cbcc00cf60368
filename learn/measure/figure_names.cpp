#include "learn/measure/figure_names.hpp"

#include "learn/measure/figure_table.hpp"

namespace headrace::measure {
namespace {

constexpr const char* kIntervals = "interval_95";

void collect(const Json& value, const JsonPath& path, const std::string& name,
             std::vector<NamedFigure>& out) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      if (path.empty() && key == kIntervals) continue;
      JsonPath deeper = path;
      deeper.push_back(key);
      collect(child, deeper, name.empty() ? key : name + "." + key, out);
    }
  } else if (value.is_number()) {
    out.push_back({name, path, value.get<double>(), value.is_number_integer()});
  } else if (value.is_null()) {
    out.push_back({name, path, std::nullopt, false});
  }
}

}  // namespace

std::vector<NamedFigure> figures_of_group(const Json& group) {
  std::vector<NamedFigure> out;
  collect(group, {}, "", out);
  return out;
}

std::optional<NamedFigure> figure_of_group(const Json& group, const std::string& name) {
  for (NamedFigure& figure : figures_of_group(group)) {
    if (figure.name == name) return std::move(figure);
  }
  return std::nullopt;
}

std::optional<std::array<double, 2>> interval_of(const Json& group, const JsonPath& path) {
  JsonPath whole{kIntervals};
  whole.insert(whole.end(), path.begin(), path.end());
  const Json* ends = find_at(group, whole);
  if (ends == nullptr || !ends->is_array() || ends->size() != 2) return std::nullopt;
  return ends->get<std::array<double, 2>>();
}

std::vector<FigureGroup> groups_of(const Json& evaluation) {
  std::vector<FigureGroup> out{{"overall", "", &evaluation.at("overall")}};
  for (const char* kind : kGroupKinds) {
    const auto groups = evaluation.find(kind);
    if (groups == evaluation.end()) continue;
    for (auto group = groups->begin(); group != groups->end(); ++group)
      out.push_back({kind, group.key(), &group.value()});
  }
  return out;
}

bool smaller_is_better(const std::string& figure) {
  const Figure* row = find_figure(figure);
  return row != nullptr && row->better == Better::less;
}

}  // namespace headrace::measure
