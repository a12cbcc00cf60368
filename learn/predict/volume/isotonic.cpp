#include "learn/predict/volume/isotonic.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::predict {
namespace {

/// Neighbouring scores that share one probability.
struct Block {
  double low = 0, high = 0;  ///< scores, both included
  std::uint64_t calls = 0, hits = 0;

  /// By integers, so that equal parts are equal whatever they are parts of.
  bool exceeds_or_equals(const Block& other) const {
    return hits * other.calls >= other.hits * calls;
  }
  void take(const Block& after) {
    high = after.high;
    calls += after.calls;
    hits += after.hits;
  }
  double probability() const { return static_cast<double>(hits) / static_cast<double>(calls); }
};

/// One for each distinct score, rising.
std::vector<Block> blocks_by_score(std::span<const ValidationLesions::Call> calls) {
  std::vector<ValidationLesions::Call> sorted(calls.begin(), calls.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.score < b.score; });
  std::vector<Block> out;
  for (const ValidationLesions::Call& call : sorted) {
    if (out.empty() || out.back().high != call.score) out.push_back({call.score, call.score, 0, 0});
    ++out.back().calls;
    out.back().hits += call.hit ? 1 : 0;
  }
  return out;
}

}  // namespace

IsotonicCurve IsotonicCurve::fit(std::span<const ValidationLesions::Call> calls) {
  std::vector<Block> pooled;
  for (Block block : blocks_by_score(calls)) {
    while (!pooled.empty() && pooled.back().exceeds_or_equals(block)) {
      Block before = pooled.back();
      pooled.pop_back();
      before.take(block);
      block = before;
    }
    pooled.push_back(block);
  }
  IsotonicCurve out;
  for (const Block& block : pooled) {
    out.calls_ += block.calls;
    out.hits_ += block.hits;
    out.knots_.push_back({block.low, block.probability()});
    if (block.high != block.low) out.knots_.push_back({block.high, block.probability()});
  }
  return out;
}

double IsotonicCurve::at(double score) const {
  const auto above = std::upper_bound(knots_.begin(), knots_.end(), score,
                                      [](double s, const Knot& knot) { return s < knot.score; });
  if (above == knots_.begin()) return knots_.front().probability;
  if (above == knots_.end()) return knots_.back().probability;
  const Knot &low = *(above - 1), &high = *above;
  const double part = (score - low.score) / (high.score - low.score);
  // Rounding must not lead out of the two.
  return std::clamp(low.probability + part * (high.probability - low.probability), low.probability,
                    high.probability);
}

Json IsotonicCurve::to_json() const {
  Json knots = Json::array();
  for (const Knot& knot : knots_) knots.push_back({knot.score, knot.probability});
  return {{"calls", calls_}, {"hits", hits_}, {"knots", std::move(knots)}};
}

OrReason<IsotonicCurve> calibration_of_calls(const ValidationLesions& validation,
                                             std::size_t least_calls) {
  using Result = OrReason<IsotonicCurve>;
  if (validation.calls.size() < std::max<std::size_t>(least_calls, 1)) {
    return Result::none(
        fmt::format("The run's validation has {} calls; calibration takes at least {}.",
                    validation.calls.size(), least_calls));
  }
  return Result::of(IsotonicCurve::fit(validation.calls));
}

}  // namespace headrace::predict
