#include "learn/predict/volume/operating_point.hpp"

#include <fmt/format.h>

namespace headrace::predict {
namespace {

/// The part of the scans with lesions (or without) for which `flagged` is whether they have a call.
std::optional<double> part_of_scans(const ValidationLesions& validation, bool with_lesions,
                                    double threshold, bool flagged) {
  std::uint64_t all = 0, counted = 0;
  for (const ValidationLesions::Scan& scan : validation.scans) {
    if ((scan.lesions > 0) != with_lesions) continue;
    ++all;
    counted += (scan.highest >= threshold) == flagged ? 1 : 0;
  }
  if (all == 0) return std::nullopt;
  return static_cast<double>(counted) / static_cast<double>(all);
}

}  // namespace

Json OperatingPoint::to_json() const {
  return {{"threshold", threshold},
          {"allowed_false_positives_per_scan", allowed_false_positives_per_scan},
          {"false_positives_per_scan", false_positives_per_scan},
          {"sensitivity", sensitivity},
          {"scans", scans},
          {"lesions", lesions},
          {"scan_sensitivity", or_null(scan_sensitivity)},
          {"scan_specificity", or_null(scan_specificity)}};
}

OrReason<OperatingPoint> operating_point(const ValidationLesions& validation,
                                         double false_positives_per_scan) {
  using Result = OrReason<OperatingPoint>;
  if (validation.curve.empty()) return Result::none("The run's validation has no call.");
  const ValidationLesions::Threshold* chosen = nullptr;
  for (const auto& threshold : validation.curve) {  // false positives never fall along it
    if (threshold.false_positives_per_scan > false_positives_per_scan) break;
    chosen = &threshold;
  }
  if (chosen == nullptr) {
    return Result::none(
        fmt::format("In the run's validation even the highest score has more than {:g} false "
                    "positives a scan.",
                    false_positives_per_scan));
  }
  OperatingPoint out;
  out.threshold = chosen->score;
  out.allowed_false_positives_per_scan = false_positives_per_scan;
  out.false_positives_per_scan = chosen->false_positives_per_scan;
  out.sensitivity = chosen->sensitivity;
  out.scans = validation.scans.size();
  out.lesions = validation.lesions;
  out.scan_sensitivity = part_of_scans(validation, true, out.threshold, true);
  out.scan_specificity = part_of_scans(validation, false, out.threshold, false);
  return Result::of(out);
}

}  // namespace headrace::predict
