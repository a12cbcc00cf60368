#include "learn/report/main_figures.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "learn/report/eval_json.hpp"

namespace headrace::report {

namespace {

int measure::MainPlaces::*place_of(const RunData& data) {
  if (data.gleason()) return &measure::MainPlaces::grading;
  if (data.eval.at("overall").contains("lesion")) return &measure::MainPlaces::lesions;
  return data.volumes() ? &measure::MainPlaces::volumes : &measure::MainPlaces::slides;
}

MainFigure named(const measure::Figure& row, const Json& eval) {
  return {measure::filled(row.title, "", region_word(eval)), row.path()};
}

}  // namespace

std::vector<MainFigure> main_figures(const RunData& data) {
  const Json& overall = data.eval.at("overall");
  const auto place = place_of(data);
  std::map<int, const measure::Figure*> rows;
  for (const measure::Figure& row : measure::figure_table()) {
    if (row.main.*place > 0) rows.emplace(row.main.*place, &row);
  }
  std::vector<MainFigure> out;
  for (const auto& [number, row] : rows) out.push_back(named(*row, data.eval));
  // Where every class above 0 is tumour and there is only one, both Dice are one figure.
  if (!data.volumes() && data.eval.at("classes").size() == 2)
    std::erase_if(out, [](const MainFigure& f) { return f.path == JsonPath{"tumour", "dice"}; });
  // Labels that are only class sets have no Dice of classes: the tumour's is what there is to sort by.
  if (!value_at(overall, out.front().path).is_number()) {
    std::stable_partition(out.begin(), out.end(), [&](const MainFigure& f) {
      return value_at(overall, f.path).is_number();
    });
  }
  return out;
}

MainFigure image_figure(const Json& eval) {
  const Json& images = eval.at("images");
  const bool any = std::any_of(images.begin(), images.end(),
                               [](const Json& image) { return image.at("mean_dice").is_number(); });
  // Labels that are only class sets tell tumour from the rest, and no class from another.
  const bool by_tumour = !any && !eval.contains("phases");
  return named(*measure::find_figure(by_tumour ? "tumour.dice" : "mean_dice"), eval);
}

Json value_at(const Json& json, const JsonPath& path) {
  const Json* value = find_at(json, path);
  return value != nullptr ? *value : Json(nullptr);
}

std::vector<GroupKind> group_kinds(const Json& eval) {
  constexpr std::array<GroupKind, 3> kKinds{{{"cohorts", "Cohort", "cohort"},
                                             {"scanners", "Scanner", "scanner"},
                                             {"phases", "Phase", "phase"}}};
  std::vector<GroupKind> out;
  for (const GroupKind& kind : kKinds) {
    if (eval.contains(kind.key) && !eval.at(kind.key).empty()) out.push_back(kind);
  }
  return out;
}

std::vector<NamedGroup> worst_first(const Json& groups, const JsonPath& path) {
  std::vector<NamedGroup> out;
  for (const auto& [name, group] : groups.items()) out.push_back({name, &group});
  const auto value = [&](const NamedGroup& group) {
    const Json found = value_at(*group.figures, path);
    return found.is_number() ? found.get<double>() : 1e300;
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const NamedGroup& a, const NamedGroup& b) { return value(a) < value(b); });
  return out;
}

bool has_worst(const std::vector<NamedGroup>& sorted, const JsonPath& path) {
  const auto text = [&](const NamedGroup& group) { return figure(value_at(*group.figures, path)); };
  return std::any_of(sorted.begin(), sorted.end(), [&](const NamedGroup& group) {
    return value_at(*group.figures, path).is_number() && text(group) != text(sorted.front());
  });
}

std::size_t count_cases(const Json& eval, const GroupKind* kind, const std::string& name) {
  std::set<std::string> cases;
  for (const Json& image : eval.at("images")) {
    if (kind != nullptr && image.value(kind->image_key, Json()) != name) continue;
    cases.insert(image.at("case").get<std::string>());
  }
  return cases.size();
}

}  // namespace headrace::report
