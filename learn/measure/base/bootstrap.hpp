#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headrace::measure {

using Figures = std::vector<std::optional<double>>;

/// Percentile intervals of fewer cases are far too narrow: with 2, a fourth of all resamples are of
/// one case alone, and none is of a case that was not seen. No figure has an interval then.
inline constexpr std::size_t kLeastCasesOfIntervals = 10;
/// "2 cases: no interval"; in its place in JSON, as `no_interval`.
std::string no_interval_text(std::size_t cases);

/// 95 % percentile intervals of several figures, by resampling whole cases with replacement
/// (Philox, counter-based: the same input gives the same intervals). None for a figure that is
/// defined in fewer than half of the resamples.
///
/// in      figures  of the drawn cases (indices below `cases`, some more than once); always the
///                  same number
///         stream   keeps the draws of different uses apart
std::vector<std::optional<std::array<double, 2>>> bootstrap_intervals(
    std::size_t cases, std::int64_t resamples, std::uint64_t seed, std::uint32_t stream,
    const std::function<Figures(std::span<const std::size_t> drawn)>& figures);

}  // namespace headrace::measure
