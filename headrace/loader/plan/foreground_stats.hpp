#pragma once
#include <cstdint>
#include <map>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/intensity_stats.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::loader::detail {

/// Exact mean, population standard deviation and percentiles, in the unit, of the stored values
/// with this histogram. Percentiles interpolate linearly between order statistics, as NumPy's
/// default does.
IntensityStats stats_of_histogram(const std::map<std::int32_t, std::uint64_t>& voxels_of_stored,
                                  IntensityUnit unit = IntensityUnit::hu);

/// Statistics of every voxel under a label above 0 in the training split, from the sum of the
/// stored histograms. channel: its number in the store; volumes that lack it do not count. Errors:
/// usage, where there is no such voxel.
IntensityStats foreground_stats(const cohort::Cohort& cohort, const LoaderConfig& config,
                                std::size_t channel = 0);

}  // namespace headrace::loader::detail
