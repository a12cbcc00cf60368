#include "learn/measure/slide/slide_counts.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::measure {
namespace {

std::uint64_t sum_where(const std::vector<std::uint64_t>& px,
                        const std::vector<Membership>& membership, Membership which) {
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < px.size(); ++v) sum += membership[v] == which ? px[v] : 0;
  return sum;
}

}  // namespace

std::vector<bool> SlideRules::region(std::size_t r) const {
  if (r + 1 == classes.size()) return tumour;
  std::vector<bool> one(classes.size(), false);
  one[r + 1] = true;
  return one;
}

bool SlideRules::region_untold(std::size_t r) const {
  const std::vector<bool> inside = region(r);
  bool some = false, told = false;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    some |= inside[c];
    told |= inside[c] && (untold.empty() || !untold[c]);
  }
  return some && !told;
}

std::uint64_t SlideCounts::set_px() const {
  return std::accumulate(truth_px.begin() + static_cast<std::ptrdiff_t>(predicted_px.size()),
                         truth_px.end(), std::uint64_t{0});
}

SlideMeter::SlideMeter(SlideRules rules)
    : rules_(std::move(rules)),
      counts_(rules_),
      true_classes_(classes_by_value(rules_.classes.size(), rules_.class_sets)),
      matchers_(rules_.regions()) {
  for (std::size_t r = 0; r < rules_.regions(); ++r)
    membership_.push_back(region_membership(rules_.region(r), rules_.class_sets));
}

void SlideMeter::add(const SlideRow& row, const std::string& image) {
  check(row, image);
  add_pixels(row);
  match_structures(row);
}

void SlideMeter::add_structures(const SlideRow& row, const std::string& image) {
  check(row, image);
  match_structures(row);
}

void SlideMeter::check(const SlideRow& row, const std::string& image) const {
  const std::size_t values = counts_.truth_px.size();
  for (std::size_t x = 0; x < row.truth.size(); ++x) {
    const std::uint8_t truth = row.truth[x];
    if (truth < values || truth == kIgnoreLabel) continue;
    fail(
        ErrorCode::malformed,
        "image {}: label {} at row {}, column {}; expected 0 to {}, or 255 where nothing is annotated.",
        image, truth, row.y, x, values - 1);
  }
}

void SlideMeter::add_counts(const PixelCounts& counts) {
  const std::size_t classes = rules_.classes.size(), values = counts_.truth_px.size();
  const std::vector<Membership>& tumour = membership_.back();
  for (std::size_t truth = 0; truth <= values; ++truth) {
    for (std::size_t predicted = 0; predicted < classes; ++predicted) {
      const std::uint64_t count = counts.pairs[truth * classes + predicted];
      counts_.predicted_px[predicted] += count;
      if (truth == values) continue;
      counts_.truth_px[truth] += count;
      if (truth < classes) counts_.confusion.add(truth, predicted, count);
      if (tumour[truth] == Membership::undecided) continue;
      counts_.tumour.add(tumour[truth] == Membership::inside ? 1 : 0,
                         rules_.tumour[predicted] ? 1 : 0, count);
    }
  }
  counts_.calibration.add_counted(counts.highest, counts.squared_steps);
  scores_.add(counts.tumour);
}

void SlideMeter::add_pixels(const SlideRow& row) {
  const std::size_t classes = rules_.classes.size(), pixels = row.predicted.size();
  const std::vector<Membership>& tumour = membership_.back();
  for (std::size_t x = 0; x < pixels; ++x) {
    const std::uint8_t predicted = row.predicted[x], truth = row.truth[x];
    if (predicted == kIgnoreLabel) continue;
    ++counts_.predicted_px[predicted];
    if (truth == kIgnoreLabel) continue;
    ++counts_.truth_px[truth];
    if (truth < classes) counts_.confusion.add(truth, predicted);
    const float* first = row.probabilities.empty() ? nullptr : row.probabilities.data() + x;
    if (first != nullptr)
      counts_.calibration.add_classes(first, pixels, classes, true_classes_[truth]);
    if (tumour[truth] == Membership::undecided) continue;
    const bool positive = tumour[truth] == Membership::inside;
    counts_.tumour.add(positive ? 1 : 0, rules_.tumour[predicted] ? 1 : 0);
    if (first == nullptr) continue;
    float inside = 0, all = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      all += first[c * pixels];
      if (rules_.tumour[c]) inside += first[c * pixels];
    }
    scores_.add(score_of(inside / all), positive);
  }
}

void SlideMeter::match_structures(const SlideRow& row) {
  truth_row_.resize(row.truth.size());
  predicted_row_.resize(row.truth.size());
  for (std::size_t r = 0; r < rules_.regions(); ++r) {
    if (rules_.region_untold(r)) continue;
    const std::vector<bool> region = rules_.region(r);
    for (std::size_t x = 0; x < row.truth.size(); ++x) {
      truth_row_[x] = membership_[r][row.truth[x]];
      const std::uint8_t predicted = row.predicted[x];
      predicted_row_[x] = predicted != kIgnoreLabel && region[predicted] ? 1 : 0;
    }
    matchers_[r].row(truth_row_, predicted_row_);
  }
}

SlideCounts SlideMeter::finish() {
  exact_ = scores_.counts();
  scores_.clear();
  counts_.scores = exact_.rounded();
  counts_.auc = area_under_roc(exact_);
  for (std::size_t r = 0; r < matchers_.size(); ++r) counts_.objects[r] = matchers_[r].finish();
  return std::exchange(counts_, SlideCounts(rules_));
}

double tumour_share(const std::vector<std::uint64_t>& predicted_px, const SlideRules& rules) {
  std::uint64_t tissue = 0, tumour = 0;
  for (std::size_t c = 1; c < predicted_px.size(); ++c) {
    tissue += predicted_px[c];
    tumour += rules.tumour[c] ? predicted_px[c] : 0;
  }
  if (!rules.other_tissue() && !predicted_px.empty()) tissue += predicted_px.front();
  return tissue == 0 ? 0 : static_cast<double>(tumour) / static_cast<double>(tissue);
}

std::optional<bool> annotated_cancer(const std::vector<std::uint64_t>& truth_px,
                                     const SlideRules& rules) {
  const auto membership = region_membership(rules.tumour, rules.class_sets);
  const std::uint64_t all = std::accumulate(truth_px.begin(), truth_px.end(), std::uint64_t{0});
  const std::uint64_t tumour = sum_where(truth_px, membership, Membership::inside);
  if (all == 0) return std::nullopt;
  const auto tissue = static_cast<double>(all - truth_px.front());
  const bool cancer = tumour > 0 && (!rules.gleason || static_cast<double>(tumour) >=
                                                           rules.grading.min_cancer * tissue);
  if (!cancer && sum_where(truth_px, membership, Membership::undecided) > 0) return std::nullopt;
  return cancer;
}

std::optional<GleasonGrade> annotated_grade(const std::vector<std::uint64_t>& truth_px,
                                            const SlideRules& rules) {
  const auto cancer = annotated_cancer(truth_px, rules);
  if (!cancer) return std::nullopt;
  for (std::size_t k = 0; k < rules.class_sets.size() && *cancer; ++k) {
    const auto& classes = rules.class_sets[k].classes;
    const bool untold = std::any_of(classes.begin(), classes.end(),
                                    [&](std::uint8_t c) { return rules.tumour[c]; });
    if (untold && truth_px[rules.classes.size() + k] > 0) return std::nullopt;
  }
  return grade_from_areas(truth_px, rules.patterns, rules.grading);
}

}  // namespace headrace::measure
