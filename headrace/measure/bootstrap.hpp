#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headrace::measure {

using Figures = std::vector<std::optional<double>>;

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
