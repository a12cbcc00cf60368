#pragma once
#include <optional>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/train/evaluate/evaluate.hpp"

namespace headrace::train {

/// What validations are compared by: train.best.
struct ChosenFigure {
  std::optional<double> value;
  std::string undefined_in;  ///< without a value: where the figure is undefined
};

/// The figure of an evaluation of `cohort`. Over groups it is that of the worst one, and undefined
/// where one of them has none, since what a network misses altogether must not count as good. Groups
/// in which no image has a truth are left out.
ChosenFigure chosen_figure(const Evaluation& evaluation, const cohort::Cohort& cohort,
                           const config::RunConfig& config);

/// Whether a value is better than another by more than `by`.
bool is_better(double value, double than, double by, const config::RunConfig& config);

/// Refuses a train.best that no evaluation of this run can have, before anything is made: another
/// name than the figures', groups that the split to judge by does not state. Errors: usage, with
/// the nearest name.
void check_chosen_figure(const cohort::Cohort& cohort, const config::RunConfig& config);

/// Whether train.best says other than by default what validations are compared by.
bool has_chosen_figure(const config::RunConfig& config);

/// "lesion.froc", "dice.tumour of the worst cohort".
std::string chosen_figure_text(const config::RunConfig& config);

}  // namespace headrace::train
