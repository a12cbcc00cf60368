#pragma once
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::loader {

/// Checks that the open dataset is the one that data.expect_hash names. Errors: usage, with both
/// hashes.
void check_expected_dataset(const source::Cohort& cohort, const RunConfig& config);

}  // namespace headrace::loader
