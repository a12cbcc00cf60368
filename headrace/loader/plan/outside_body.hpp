#pragma once
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader::detail {

/// Names of the classes above 0, in their order, of which the training split's labels have voxels
/// outside the body's region (cohort::BodyRegion), by the sampler's index: parts of 16 voxels. Of a
/// class set, all its classes. Errors: those of tissue_sites and label_sites.
std::vector<std::string> classes_outside_body(const cohort::Cohort& cohort,
                                              const LoaderConfig& config);

}  // namespace headrace::loader::detail
