#pragma once
#include <optional>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader {

/// Regions of slides below this area are stray pixels, unless the training labels have such.
inline constexpr double kLeastRegionMm2 = 0.005;

/// Half the area of the region at the fifth percentile of those in the training split's labels,
/// connected parts of one class above 0, if that is below kLeastRegionMm2: nuclei are smaller, and
/// a network finds some of them smaller than they were drawn. None for volumes, without labels and
/// where no slide states its pixel size. Errors: those of label_sites.
std::optional<double> least_labelled_region_mm2(const cohort::Cohort& cohort,
                                                const LoaderConfig& config);

}  // namespace headrace::loader
