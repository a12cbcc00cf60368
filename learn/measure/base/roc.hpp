#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "learn/measure/base/score.hpp"

namespace headrace::measure {

/// How often each score was given to positives (which have the class) and to negatives: the data of
/// a receiver operating characteristic. Counts are integers, so it does not matter in which order
/// or groups they were added.
class ScoreCounts {
 public:
  struct Row {
    std::uint16_t score = 0;
    std::uint64_t negative = 0, positive = 0;
    bool operator==(const Row&) const = default;
  };
  ScoreCounts() = default;
  explicit ScoreCounts(std::vector<Row> rows) : rows_(std::move(rows)) {}

  /// Ascending by score, without scores that do not occur.
  const std::vector<Row>& rows() const noexcept { return rows_; }
  std::uint64_t negatives() const;
  std::uint64_t positives() const;

  /// The same with at most 2,304 different scores, for sums over many resamples: each score s below
  /// 32768 keeps its 8 highest bits, and the rest is replaced by its middle; a score above is
  /// treated as 65535 - s. Scores that become equal are ties of the ROC, so its area changes by at
  /// most half the sum over them of negatives' share · positives' share.
  ScoreCounts rounded() const;

 private:
  std::vector<Row> rows_;
};

/// Makes ScoreCounts of single scores, or of others' counts. Takes 1 MiB.
class ScoreCounter {
 public:
  ScoreCounter();
  void add(std::uint16_t score, bool positive, std::uint64_t count = 1) {
    counts_[2 * std::size_t{score} + (positive ? 1 : 0)] += count;
  }
  void add(const ScoreCounts& counts);
  ScoreCounts counts() const;
  void clear();

 private:
  std::vector<std::uint64_t> counts_;  ///< (score, negative or positive)
};

/// Area under the ROC: the chance that a positive has a higher score than a negative; ties count
/// half. None where one of the two is missing.
/// source  Hanley and McNeil, Radiology 143, 1982; equal to scikit-learn's roc_auc_score
std::optional<double> area_under_roc(const ScoreCounts& counts);

/// The highest sensitivity that a threshold reaches with at least this specificity, without
/// interpolation; a threshold above all scores counts too. None where positives or negatives are
/// missing.
std::optional<double> sensitivity_at_specificity(const ScoreCounts& counts, double specificity);

}  // namespace headrace::measure
