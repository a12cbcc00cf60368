#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/json.hpp"
#include "learn/measure/base/roc.hpp"

namespace headrace::measure {

/// Calibration of probabilities. Predictions are counted by their score in 15 equal ranges; all
/// sums are integers, so it does not matter in which order or groups they were added. Squared
/// errors are summed in steps of 2^-24: enough for 5·10^11 predictions.
class Calibration {
 public:
  static constexpr std::size_t kBins = 15;
  static constexpr double kSquareSteps = 1 << 24;
  /// Scores of (k/15, (k+1)/15]; 0 belongs to the first.
  struct Bin {
    std::uint64_t count = 0, positive = 0, score_sum = 0;  ///< scores in steps of 1/65535
  };

  /// A yes-or-no prediction: the score of yes, and whether yes was true.
  void add(std::uint16_t score, bool positive, std::uint64_t count = 1);
  /// A prediction among classes. The score is the highest probability; it is positive if its class
  /// (the lowest of equals) is one of the true ones; the squared error is Σ (p - y)² over classes,
  /// where classes that are true together count as one.
  ///
  /// in  probabilities  of class c at [c · stride], not negative, not all 0; divided by their sum
  ///     truth          bit c: class c may be the true one; at least one is
  void add_classes(const float* probabilities, std::size_t stride, std::size_t classes,
                   const ClassMask& truth);
  /// What add_classes would count of many predictions: their scores, positive or not, and the sum of
  /// their squared errors, each rounded to steps of 1/kSquareSteps.
  void add_counted(const ScoreCounts& scores, std::uint64_t squared_steps);
  Calibration& operator+=(const Calibration& other);

  std::uint64_t count() const;
  const std::array<Bin, kBins>& bins() const noexcept { return bins_; }
  /// Mean of the squared errors: 0..1 for yes or no, 0..2 for classes. None without predictions.
  /// source  Brier, Monthly Weather Review 78, 1950; equal to scikit-learn's brier_score_loss
  std::optional<double> brier() const;
  /// Expected calibration error: Σ over bins of their share of the predictions, times the distance
  /// of mean score and share of positives. None without predictions. source  Guo et al., On
  /// calibration of modern neural networks, ICML 2017
  std::optional<double> expected_error() const;
  /// {count, ece, brier, bins[[mean score, share of positives, count] or null]}
  Json to_json() const;

 private:
  Bin& bin_of(std::uint16_t score);

  std::array<Bin, kBins> bins_{};
  std::uint64_t squared_ = 0;  ///< steps of 2^-24
};

/// Calibration of the predictions that were counted.
Calibration calibration_of(const ScoreCounts& counts);

}  // namespace headrace::measure
