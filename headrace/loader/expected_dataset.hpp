#pragma once
#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::loader {

/// Checks that the open dataset is the one that data.expect_hash names. Errors: usage, with both
/// hashes.
void check_expected_dataset(const cohort::Cohort& cohort, const RunConfig& config);

}  // namespace headrace::loader
