#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learn/measure/evaluated_images.hpp"

namespace headrace::measure {

/// One figure of two evaluations of the same cases.
struct PairedFigure {
  JsonPath path;
  std::optional<double> before, after;
  /// after - before; none where one of them is undefined.
  std::optional<double> difference;
  /// 95 % percentile interval of the difference; none with fewer than
  /// kLeastCasesOfIntervals, and where it is defined in
  /// fewer than half of the resamples.
  std::optional<std::array<double, 2>> interval;
};

struct PairedFigures {
  std::size_t cases = 0;  ///< that both have, with the same images
  std::size_t cases_before = 0, cases_after = 0;
  std::vector<PairedFigure> figures;  ///< of these cases; empty without any
};

inline constexpr std::int64_t kPairedResamples = 1000;

/// Compares two evaluations of a group. Cases are drawn whole, with replacement, and both figures
/// are made of the same draw, so that what makes a case hard for both is not part of the interval.
/// The draws are a function of the number of cases alone.
PairedFigures compare_paired(const EvaluatedCases& before, const EvaluatedCases& after,
                             std::int64_t resamples = kPairedResamples);

}  // namespace headrace::measure
