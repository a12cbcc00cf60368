#include "learn/measure/volume/froc.hpp"

#include <algorithm>

namespace headrace::measure {

// Along the curve scores fall, and false positives and sensitivity never do.

const Froc::Point* Froc::at_most(double false_positives) const {
  const auto after = std::partition_point(curve.begin(), curve.end(), [&](const Point& point) {
    return point.false_positives <= false_positives;
  });
  return after == curve.begin() ? nullptr : &*(after - 1);
}

const Froc::Point* Froc::from_score(double score) const {
  const auto after = std::partition_point(curve.begin(), curve.end(),
                                          [&](const Point& point) { return point.score >= score; });
  return after == curve.begin() ? nullptr : &*(after - 1);
}

std::optional<double> Froc::sensitivity_at(double false_positives) const {
  if (lesions == 0) return std::nullopt;
  const Point* point = at_most(false_positives);
  return point != nullptr ? point->sensitivity : 0;
}

std::optional<double> Froc::mean_sensitivity() const {
  if (lesions == 0) return std::nullopt;
  double sum = 0;
  for (const double at : kFrocFalsePositives) sum += *sensitivity_at(at);
  return sum / static_cast<double>(kFrocFalsePositives.size());
}

Froc froc(std::span<const ScanCalls> scans) {
  Froc out;
  out.scans = scans.size();
  std::vector<ScanCalls::Call> all;
  for (const ScanCalls& scan : scans) {
    all.insert(all.end(), scan.calls.begin(), scan.calls.end());
    out.lesions += scan.lesions;
  }
  std::sort(all.begin(), all.end(),
            [](const ScanCalls::Call& a, const ScanCalls::Call& b) { return a.score > b.score; });
  std::size_t hits = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].hit) ++hits;
    if (i + 1 < all.size() && all[i + 1].score == all[i].score) continue;
    const auto wrong = static_cast<double>(i + 1 - hits);
    out.curve.push_back(
        {wrong / static_cast<double>(out.scans),
         out.lesions > 0 ? static_cast<double>(hits) / static_cast<double>(out.lesions) : 0,
         all[i].score, i + 1, hits});
  }
  return out;
}

}  // namespace headrace::measure
