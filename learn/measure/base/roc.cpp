#include "learn/measure/base/roc.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "learn/measure/base/ratio.hpp"

namespace headrace::measure {
namespace {

constexpr std::size_t kScores = kScoreSteps + 1;
constexpr int kBitsKept = 8;

std::uint16_t rounded_score(std::uint16_t score) {
  const bool high = score >= kScores / 2;
  const auto from_end = static_cast<std::uint16_t>(high ? kScores - 1 - score : score);
  const int dropped = std::max(0, static_cast<int>(std::bit_width(from_end)) - kBitsKept);
  const int middle = dropped > 0 ? 1 << (dropped - 1) : 0;
  const auto kept = static_cast<std::uint16_t>((from_end >> dropped << dropped) | middle);
  return static_cast<std::uint16_t>(high ? kScores - 1 - kept : kept);
}

}  // namespace

std::uint64_t ScoreCounts::negatives() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.negative;
  return sum;
}

std::uint64_t ScoreCounts::positives() const {
  std::uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.positive;
  return sum;
}

ScoreCounts ScoreCounts::rounded() const {
  // Rounding keeps the order of scores, so equal ones are neighbours.
  ScoreCounts out;
  for (const Row& row : rows_) {
    const std::uint16_t score = rounded_score(row.score);
    if (out.rows_.empty() || out.rows_.back().score != score) out.rows_.push_back({score, 0, 0});
    out.rows_.back().negative += row.negative;
    out.rows_.back().positive += row.positive;
  }
  return out;
}

ScoreCounter::ScoreCounter() : counts_(2 * kScores, 0) {}

void ScoreCounter::add(const ScoreCounts& counts) {
  for (const ScoreCounts::Row& row : counts.rows()) {
    add(row.score, false, row.negative);
    add(row.score, true, row.positive);
  }
}

ScoreCounts ScoreCounter::counts() const {
  std::vector<ScoreCounts::Row> rows;
  for (std::size_t score = 0; score < kScores; ++score) {
    const std::uint64_t negative = counts_[2 * score], positive = counts_[2 * score + 1];
    if (negative + positive > 0)
      rows.push_back({static_cast<std::uint16_t>(score), negative, positive});
  }
  return ScoreCounts(std::move(rows));
}

void ScoreCounter::clear() { std::fill(counts_.begin(), counts_.end(), 0); }

std::optional<double> area_under_roc(const ScoreCounts& counts) {
  const auto negatives = static_cast<double>(counts.negatives());
  const auto positives = static_cast<double>(counts.positives());
  if (negatives == 0 || positives == 0) return std::nullopt;
  double pairs = 0, below = 0;  // pairs in the right order; negatives of lower scores
  for (const ScoreCounts::Row& row : counts.rows()) {
    const auto negative = static_cast<double>(row.negative);
    pairs += static_cast<double>(row.positive) * (below + negative / 2);
    below += negative;
  }
  return pairs / negatives / positives;
}

std::optional<double> sensitivity_at_specificity(const ScoreCounts& counts, double specificity) {
  const std::uint64_t negatives = counts.negatives(), positives = counts.positives();
  if (negatives == 0 || positives == 0) return std::nullopt;
  // Thresholds from the lowest up: the first that is specific enough is the most sensitive one.
  std::uint64_t true_negatives = 0, missed = 0;
  for (const ScoreCounts::Row& row : counts.rows()) {
    if (ratio(true_negatives, negatives) >= specificity) break;
    true_negatives += row.negative;
    missed += row.positive;
  }
  return ratio(positives - missed, positives);
}

}  // namespace headrace::measure
