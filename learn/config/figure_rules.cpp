#include "learn/config/figure_rules.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "learn/measure/known_figures.hpp"

namespace headrace::config {

JudgedClasses judged_classes(const cohort::Cohort& cohort) {
  return {cohort.classes(), cohort.class_sets(), cohort.class_match().lacks(cohort.classes())};
}

measure::TumourRule tumour_rule(const std::vector<std::string>& classes, const RunConfig& config) {
  const auto& eval = config.eval;
  measure::TumourRule rule;
  rule.classes = classes;
  rule.tumour.assign(classes.size(), false);
  rule.grading = {eval.grading == Specimen::biopsy, eval.min_cancer, eval.min_area,
                  eval.min_higher};
  rule.gleason = config.task == loader::Task::grading;
  if (rule.gleason) rule.patterns = measure::find_gleason_classes(classes);
  for (const std::string& name : eval.tumour_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      const auto nearest = nearest_name(name, classes);
      fail(ErrorCode::usage, "eval.tumour_classes: '{}' is none of the classes ({}){}", name,
           fmt::join(classes, ", "), nearest ? fmt::format("; did you mean '{}'?", *nearest) : "");
    }
    rule.tumour[static_cast<std::size_t>(found - classes.begin())] = true;
  }
  if (!eval.tumour_classes.empty()) return rule;
  rule.stated = rule.gleason;
  for (std::size_t c = 1; c < classes.size(); ++c) {
    const auto& patterns = rule.patterns.pattern;
    rule.tumour[c] =
        !rule.gleason || std::find(patterns.begin(), patterns.end(), c) != patterns.end();
  }
  return rule;
}

std::vector<std::uint8_t> lesion_class_values(const std::vector<std::string>& classes,
                                              const RunConfig& config) {
  std::vector<std::uint8_t> out;
  if (config.task != loader::Task::lesions) return out;
  for (const std::string& name : config.eval.lesion_classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end() || found == classes.begin()) {
      fail(ErrorCode::usage, "eval.lesion_classes: '{}' is not a class above 0; there are {}.",
           name, fmt::join(classes.begin() + 1, classes.end(), ", "));
    }
    out.push_back(static_cast<std::uint8_t>(found - classes.begin()));
  }
  for (std::size_t c = 1; c < classes.size() && config.eval.lesion_classes.empty(); ++c)
    out.push_back(static_cast<std::uint8_t>(c));
  return out;
}

measure::SlideRules slide_rules(const JudgedClasses& classes, const RunConfig& config) {
  return {tumour_rule(classes.names, config), classes.sets, classes.untold,
          config.eval.specificity};
}

measure::VolumeRules volume_rules(const JudgedClasses& classes, const RunConfig& config) {
  const auto& eval = config.eval;
  return {classes.names.size(),
          eval.surface_tolerance_mm,
          lesion_class_values(classes.names, config),
          eval.lesion_lowest,
          eval.lesion_min_mm3,
          eval.lesion_overlap,
          classes.sets,
          classes.untold};
}

measure::GroupRules group_rules(const JudgedClasses& classes, const RunConfig& config) {
  const auto& eval = config.eval;
  return {classes.names,
          classes.untold,
          !lesion_class_values(classes.names, config).empty(),
          eval.lesion_probability,
          eval.specificity,
          eval.lesion_diameters_mm};
}

std::vector<std::string> figure_names(const std::vector<std::string>& classes,
                                      const RunConfig& config) {
  if (config.volumes) {
    measure::GroupRules rules;
    rules.classes = classes;
    rules.lesions = config.task == loader::Task::lesions;
    rules.diameters_mm = config.eval.lesion_diameters_mm;
    return measure::known_volume_figures(rules);
  }
  measure::SlideRules rules;
  rules.classes = classes;
  rules.tumour.assign(classes.size(), true);  // which of them are tumour changes no name
  rules.gleason = config.task == loader::Task::grading;
  return measure::known_slide_figures(rules);
}

void check_gates(const measure::Gate& gates, const std::vector<std::string>& classes,
                 const RunConfig& config) {
  gates.check_names(figure_names(classes, config), config.volumes);
}

}  // namespace headrace::config
