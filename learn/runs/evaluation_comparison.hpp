#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::runs {

using Interval = std::optional<std::array<double, 2>>;

/// A figure of one group in two evaluations.
struct ComparedFigure {
  std::string figure;  ///< as measure/figure_names.hpp
  bool count = false;  ///< how many, not how good
  std::optional<double> before, after;
  Interval before_interval, after_interval;  ///< interval_95 of each
  std::optional<double> difference;          ///< after - before
  /// Of the difference, by paired bootstrap over the cases that both have.
  Interval interval;
  bool not_of_images = false;  ///< one of them is not what its own images make: a file was changed
};

struct ComparedGroup {
  std::string group;  ///< "overall", "cohorts.a"
  std::size_t paired_cases = 0;
  std::vector<ComparedFigure> figures;
};

struct ComparedEvaluations {
  std::string why_not_paired;  ///< why no difference has an interval; empty where some have
  std::vector<ComparedGroup> groups;
  Json to_json() const;
};

/// An eval.json, and what it is called in sentences.
struct NamedEvaluation {
  Json json;
  std::string origin;
};

/// Whether a figure is the same when it is made again, but for rounding; none is none alone.
bool about(const std::optional<double>& a, const std::optional<double>& b);

/// Whether both judged the same images by the same truth: the same dataset hash and split, and the
/// same images where both list some (folds share a split).
bool of_same_data(const Json& before, const Json& after);

/// The figures of every group that both have and `takes` takes (all by default). A difference has
/// an interval where both are of the same data and their images determine the figure
/// (measure/evaluated_images.hpp). Errors: malformed.
ComparedEvaluations compare_evaluations(
    const NamedEvaluation& before, const NamedEvaluation& after,
    const std::function<bool(const std::string& kind)>& takes = nullptr);

}  // namespace headrace::runs
