#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader::detail {

/// Errors: usage: a store of another kind than the run's.
void check_kind(const cohort::Cohort& cohort, const LoaderConfig& config);

/// Numbers of the images of a split, in order of id. `key` names where the split comes from in
/// errors. Errors: usage: a store of another kind than the run's, no image in the split (names the
/// existing splits), a slide without mpp.
std::vector<std::uint32_t> images_of_split(const cohort::Cohort& cohort, const LoaderConfig& config,
                                           const std::string& split, const std::string& key);

/// The images of the training split, as far as there are any: for facts that a run may do without.
std::vector<std::uint32_t> training_images(const cohort::Cohort& cohort,
                                           const LoaderConfig& config);

/// Checks that sampling.cohort_weights names every cohort of the images and no other. Errors:
/// usage.
void check_cohort_weights(const cohort::Cohort& cohort, const LoaderConfig& config,
                          const std::vector<std::uint32_t>& images);

/// Checks that sampling.near_classes are classes of the store. Errors: usage.
void check_near_classes(const cohort::Cohort& cohort, const LoaderConfig& config);

}  // namespace headrace::loader::detail
