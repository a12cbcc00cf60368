#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/report/run_data.hpp"

namespace headrace::report {

/// A figure of eval.json by which a run, or a group of its images, is judged; more is better.
struct MainFigure {
  std::string name;
  JsonPath path;
};

/// The figures that matter for the run's task, the first most; groups are sorted by it.
std::vector<MainFigure> main_figures(const RunData& data);

/// The figure by which single images are sorted; they have no kappa and no FROC.
MainFigure image_figure(const Json& eval);

/// The value at a path; null where there is none.
Json value_at(const Json& json, const JsonPath& path);

/// One kind of groups in an evaluation.
struct GroupKind {
  const char *key, *word, *image_key;  ///< "cohorts", "Cohort", "cohort"
};
/// The kinds that an evaluation has groups of.
std::vector<GroupKind> group_kinds(const Json& eval);

/// A group by its name.
struct NamedGroup {
  std::string name;
  const Json* figures = nullptr;
};
/// Worst first by a figure; those where it is undefined last; equal ones by name.
std::vector<NamedGroup> worst_first(const Json& groups, const JsonPath& path);

/// Whether the first of sorted groups is worse than another one, in figures as they are shown.
bool has_worst(const std::vector<NamedGroup>& sorted, const JsonPath& path);

/// Cases with an image in a group; `kind` null: all.
std::size_t count_cases(const Json& eval, const GroupKind* kind, const std::string& name);

}  // namespace headrace::report
