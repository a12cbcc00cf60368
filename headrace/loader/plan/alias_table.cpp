#include "headrace/loader/plan/alias_table.hpp"

#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::loader {

std::vector<AliasSlot> alias_slots(std::span<const double> weights) {
  std::vector<AliasSlot> slots(weights.size());
  double sum = 0;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || !std::isfinite(weights[i])) {
      fail(ErrorCode::internal, "alias table: weight {} is {}", i, weights[i]);
    }
    sum += weights[i];
    if (weights[i] > weights[largest]) largest = i;
  }
  if (!(sum > 0) || !std::isfinite(sum) || weights.size() > 0xFFFFFFFFu) {
    fail(ErrorCode::internal, "alias table: {} weights sum to {}", weights.size(), sum);
  }
  // Scaled so that the mean is 1; a slot below 1 takes what it lacks from one above.
  std::vector<double> left(weights.size());
  std::vector<std::uint32_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left[i] = weights[i] / sum * static_cast<double>(weights.size());
    (left[i] < 1 ? small : large).push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) slots[i].alias = static_cast<std::uint32_t>(i);
  while (!small.empty() && !large.empty()) {
    const std::uint32_t i = small.back(), donor = large.back();
    small.pop_back();
    slots[i] = {static_cast<std::uint32_t>(left[i] * 4294967296.0), donor};
    left[donor] -= 1 - left[i];
    if (left[donor] < 1) {
      large.pop_back();
      small.push_back(donor);
    }
  }
  // Rounding may leave slots that lack almost nothing: they are full. One that must never be drawn
  // is not among these.
  for (const std::uint32_t i : small) {
    if (weights[i] == 0) slots[i].alias = static_cast<std::uint32_t>(largest);
  }
  return slots;
}

std::vector<double> AliasTable::probabilities() const {
  std::vector<double> result(slots_.size(), 0.0);
  const double slot = 1.0 / static_cast<double>(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const double kept = static_cast<double>(slots_[i].keep_below) / 4294967296.0;
    result[i] += slot * kept;
    result[slots_[i].alias] += slot * (1 - kept);
  }
  return result;
}

}  // namespace headrace::loader
