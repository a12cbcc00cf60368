#pragma once
#include <memory>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// The cohort as validations during training see it: with eval.subset only so many images with a
/// truth are in split data.val, else it is the cohort itself.
///
/// One image of each cohort comes first, one that shows a class above 0 where there is one, then
/// images in the order of a hash of their ids. So the choice depends on nothing but ids, cohorts and
/// labels, and is the same for every validation, resume and seed.
/// Errors: usage (fewer images than cohorts).
std::shared_ptr<const cohort::Cohort> validation_cohort(
    std::shared_ptr<const cohort::Cohort> cohort, const config::RunConfig& config);

}  // namespace headrace::train
