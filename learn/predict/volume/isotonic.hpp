#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/predict/volume/or_reason.hpp"
#include "learn/predict/volume/validation_lesions.hpp"

namespace headrace::predict {

/// Fewer validation calls than this say too little about what a score means.
inline constexpr std::size_t kLeastCallsToCalibrate = 20;

/// A never falling function of the score of a call: the estimated chance that the call is a hit.
///
/// source  isotonic regression of hit (1) or not (0) on the score by pool adjacent violators (Ayer
///         et al., Ann Math Stat 26, 1955; as calibration Zadrozny and Elkan, KDD 2002). Between
///         scores of the fit linear, beyond them constant, as scikit-learn's IsotonicRegression
///         with out_of_bounds="clip".
class IsotonicCurve {
 public:
  struct Knot {
    double score = 0, probability = 0;
    bool operator==(const Knot&) const = default;
  };

  /// Of calls in any order; equal scores count as one place of their mean. There must be a call.
  static IsotonicCurve fit(std::span<const ValidationLesions::Call> calls);

  double at(double score) const;
  /// The ends of the parts where the function is constant, by rising score.
  const std::vector<Knot>& knots() const noexcept { return knots_; }
  std::uint64_t calls() const noexcept { return calls_; }
  std::uint64_t hits() const noexcept { return hits_; }
  /// {calls, hits, knots: [[score, probability], …]}
  Json to_json() const;

 private:
  std::vector<Knot> knots_;
  std::uint64_t calls_ = 0, hits_ = 0;
};

/// The fit to a run's validation calls; none with fewer than `least_calls`.
OrReason<IsotonicCurve> calibration_of_calls(const ValidationLesions& validation,
                                             std::size_t least_calls = kLeastCallsToCalibrate);

}  // namespace headrace::predict
