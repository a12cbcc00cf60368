#include "headrace/train/volume/froc.hpp"

#include <algorithm>

namespace headrace::train {

std::optional<double> Froc::sensitivity_at(double false_positives) const {
  if (lesions == 0) return std::nullopt;
  double best = 0;
  for (const Point& point : curve) {
    if (point.false_positives <= false_positives) best = std::max(best, point.sensitivity);
  }
  return best;
}

std::optional<double> Froc::mean_sensitivity() const {
  if (lesions == 0) return std::nullopt;
  double sum = 0;
  for (const double at : kFrocFalsePositives) sum += *sensitivity_at(at);
  return sum / static_cast<double>(kFrocFalsePositives.size());
}

Froc froc(std::span<const ScanCalls* const> scans) {
  Froc out;
  out.scans = scans.size();
  std::vector<ScanCalls::Call> all;
  for (const ScanCalls* scan : scans) {
    all.insert(all.end(), scan->calls.begin(), scan->calls.end());
    out.lesions += scan->lesions;
  }
  std::sort(all.begin(), all.end(),
            [](const ScanCalls::Call& a, const ScanCalls::Call& b) { return a.score > b.score; });
  out.calls = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].hit) ++out.hits;
    if (i + 1 < all.size() && all[i + 1].score == all[i].score) continue;
    const auto wrong = static_cast<double>(i + 1 - out.hits);
    out.curve.push_back(
        {wrong / static_cast<double>(out.scans),
         out.lesions > 0 ? static_cast<double>(out.hits) / static_cast<double>(out.lesions) : 0,
         all[i].score});
  }
  return out;
}

}  // namespace headrace::train
