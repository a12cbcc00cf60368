#pragma once
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// Checks that the open dataset is the one that data.expect_hash names. Errors: usage, with both
/// hashes.
void check_expected_dataset(const cohort::Cohort& cohort, const LoaderConfig& config);

/// Where the store has both versions, a sentence with the command that says what differs between
/// them, after a space; else empty.
std::string how_to_compare(const cohort::Cohort& cohort, const std::string& before,
                           const std::string& after);

}  // namespace headrace::loader
