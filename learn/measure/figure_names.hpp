#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::measure {

// Figures of eval.json by name: the path in a group's object, joined by dots ("dice.tumour",
// "lesion.sensitivity_at_0.125"). Names of classes, cohorts and figures may hold dots themselves,
// so names are compared with those that there are, never cut at a dot.

/// A figure of a group: a number, or null where it is undefined.
struct NamedFigure {
  std::string name;
  JsonPath path;
  std::optional<double> value;
  bool count = false;  ///< a whole number: how many, not how good
};

/// Every figure of a group of images, in the order of its JSON; without those of interval_95.
std::vector<NamedFigure> figures_of_group(const Json& group);
/// One of them; none where the group has no figure of this name.
std::optional<NamedFigure> figure_of_group(const Json& group, const std::string& name);
/// The ends of its interval_95; none where it has none, or an undefined one.
std::optional<std::array<double, 2>> interval_of(const Json& group, const JsonPath& path);

/// A group of eval.json: all images ("overall"), or a cohort, scanner, phase or case
/// ("cohorts.site.a").
struct FigureGroup {
  std::string kind;  ///< "overall", "cohorts", "scanners", "phases", "cases"
  std::string name;  ///< its name there; empty for overall
  const Json* figures = nullptr;

  std::string text() const { return name.empty() && kind == "overall" ? kind : kind + "." + name; }
};
inline constexpr const char* kGroupKinds[] = {"cohorts", "scanners", "phases", "cases"};

/// overall, then the groups of each kind by name. They point into `evaluation`.
std::vector<FigureGroup> groups_of(const Json& evaluation);

/// Whether a smaller value of the figure is the better one: distances, calibration errors, false
/// positives, what was missed, invented or left undefined.
bool smaller_is_better(const std::string& figure);

}  // namespace headrace::measure
