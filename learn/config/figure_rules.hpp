#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/class_sets.hpp"
#include "learn/config/run_config.hpp"
#include "learn/measure/slide/slide_counts.hpp"
#include "learn/measure/volume/group_figures.hpp"

namespace headrace::config {

// What a run config says about figures, as `measure` takes it.

/// The label values that figures are made for.
struct JudgedClasses {
  std::vector<std::string> names;
  std::vector<ClassSet> sets;
  /// By class: the labels have no name for it, so that it is never true; empty: no such class.
  std::vector<bool> untold;
};
JudgedClasses judged_classes(const cohort::Cohort& cohort);

/// Tumour: eval.tumour_classes; by default the Gleason patterns. Task segmentation alone does not
/// say what tumour is: then every class above 0 counts (TumourRule::stated). Errors: usage (no
/// pattern among the classes; a name that is not a class, with the nearest).
measure::TumourRule tumour_rule(const std::vector<std::string>& classes, const RunConfig& config);

/// Label values of the classes that are lesions: eval.lesion_classes, by default every class above
/// 0; none for other tasks than lesions. Errors: usage (a name that is not a class above 0).
std::vector<std::uint8_t> lesion_class_values(const std::vector<std::string>& classes,
                                              const RunConfig& config);

/// Errors: those of tumour_rule.
measure::SlideRules slide_rules(const JudgedClasses& classes, const RunConfig& config);

/// Errors: those of lesion_class_values.
measure::VolumeRules volume_rules(const JudgedClasses& classes, const RunConfig& config);
measure::GroupRules group_rules(const JudgedClasses& classes, const RunConfig& config);

/// The figures that an evaluation by this config has for each group of images (measure/
/// figure_names.hpp). A class may be `*`, which stands for any.
std::vector<std::string> figure_names(const std::vector<std::string>& classes,
                                      const RunConfig& config);

/// Refuses gates that name a figure which no evaluation with these classes has. Errors: usage, with
/// the gate's place and the nearest figure.
void check_gates(const measure::Gate& gates, const std::vector<std::string>& classes,
                 const RunConfig& config);

}  // namespace headrace::config
