#include "learn/measure/base/calibration.hpp"

#include <cmath>

#include "learn/measure/base/ratio.hpp"

namespace headrace::measure {
namespace {

constexpr std::uint32_t kScoresPerBin = kScoreSteps / Calibration::kBins;
static_assert(kScoresPerBin * Calibration::kBins == kScoreSteps, "bins end at whole scores");

std::uint64_t square_steps(double squared) {
  return static_cast<std::uint64_t>(std::llround(squared * Calibration::kSquareSteps));
}

}  // namespace

Calibration::Bin& Calibration::bin_of(std::uint16_t score) {
  return bins_[score == 0 ? 0 : (score - 1u) / kScoresPerBin];
}

void Calibration::add(std::uint16_t score, bool positive, std::uint64_t count) {
  Bin& bin = bin_of(score);
  bin.count += count;
  bin.positive += positive ? count : 0;
  bin.score_sum += score * count;
  const double error = probability_of(score) - (positive ? 1 : 0);
  squared_ += square_steps(error * error) * count;
}

void Calibration::add_classes(const float* probabilities, std::size_t stride, std::size_t classes,
                              const ClassMask& truth) {
  double sum = 0, of_truth = 0, squares = 0;
  std::size_t best = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    const double p = probabilities[c * stride];
    sum += p;
    if (p > probabilities[best * stride]) best = c;
    if (truth[c]) {
      of_truth += p;
    } else {
      squares += p * p;
    }
  }
  const double missing = sum - of_truth;
  squared_ += square_steps((squares + missing * missing) / (sum * sum));
  const auto score = score_of(static_cast<float>(probabilities[best * stride] / sum));
  Bin& bin = bin_of(score);
  ++bin.count;
  bin.positive += truth[best] ? 1 : 0;
  bin.score_sum += score;
}

void Calibration::add_counted(const ScoreCounts& scores, std::uint64_t squared_steps) {
  for (const ScoreCounts::Row& row : scores.rows()) {
    Bin& bin = bin_of(row.score);
    bin.count += row.negative + row.positive;
    bin.positive += row.positive;
    bin.score_sum += row.score * (row.negative + row.positive);
  }
  squared_ += squared_steps;
}

Calibration& Calibration::operator+=(const Calibration& other) {
  for (std::size_t k = 0; k < kBins; ++k) {
    bins_[k].count += other.bins_[k].count;
    bins_[k].positive += other.bins_[k].positive;
    bins_[k].score_sum += other.bins_[k].score_sum;
  }
  squared_ += other.squared_;
  return *this;
}

std::uint64_t Calibration::count() const {
  std::uint64_t sum = 0;
  for (const Bin& bin : bins_) sum += bin.count;
  return sum;
}

std::optional<double> Calibration::brier() const {
  const auto mean = ratio(squared_, count());
  if (!mean) return std::nullopt;
  return *mean / kSquareSteps;
}

std::optional<double> Calibration::expected_error() const {
  const std::uint64_t all = count();
  if (all == 0) return std::nullopt;
  double sum = 0;
  for (const Bin& bin : bins_) {
    const double scores = static_cast<double>(bin.score_sum) / kScoreSteps;
    sum += std::abs(scores - static_cast<double>(bin.positive));
  }
  return sum / static_cast<double>(all);
}

Json Calibration::to_json() const {
  Json bins = Json::array();
  for (const Bin& bin : bins_) {
    if (bin.count == 0) {
      bins.push_back(nullptr);
    } else {
      bins.push_back({*ratio(bin.score_sum, bin.count) / kScoreSteps,
                      *ratio(bin.positive, bin.count), bin.count});
    }
  }
  return {{"count", count()},
          {"ece", or_null(expected_error())},
          {"brier", or_null(brier())},
          {"bins", std::move(bins)}};
}

Calibration calibration_of(const ScoreCounts& counts) {
  Calibration out;
  for (const ScoreCounts::Row& row : counts.rows()) {
    out.add(row.score, false, row.negative);
    out.add(row.score, true, row.positive);
  }
  return out;
}

}  // namespace headrace::measure
