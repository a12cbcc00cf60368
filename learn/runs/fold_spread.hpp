#pragma once
#include <array>
#include <optional>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::runs {

/// A figure over folds.
struct FoldSpread {
  std::vector<std::optional<double>> values;  ///< by fold; none: undefined there
  std::optional<double> mean;                 ///< of those that are defined
  std::optional<double> sd;                   ///< of a sample (n - 1); none below two values
  /// mean ± t(0.975, n - 1) · sd / √n. Too narrow: any two folds share most of what they train on,
  /// so their figures are not independent (Nadeau and Bengio, Machine Learning 52, 2003).
  std::optional<std::array<double, 2>> t_95;

  Json to_json() const;  ///< {values, mean, sd, t_95}
};

FoldSpread spread_of(std::vector<std::optional<double>> values);

/// The value that Student's t of so many degrees of freedom (from 1) exceeds with chance 0.025.
double t_quantile_975(int degrees);

/// Every figure of eval.json's overall and its cohorts, each with its spread at its path there.
/// Counts are left out. `evaluations`: eval.json of each fold, in order. A cohort or figure that a
/// fold does not have is undefined in it.
Json spreads_of(const std::vector<Json>& evaluations);

}  // namespace headrace::runs
