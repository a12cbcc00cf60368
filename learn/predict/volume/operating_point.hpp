#pragma once
#include <cstdint>
#include <optional>

#include "headrace/core/json.hpp"
#include "learn/predict/volume/or_reason.hpp"
#include "learn/predict/volume/validation_lesions.hpp"

namespace headrace::predict {

/// False positives a scan that a flag of studies accepts by default.
inline constexpr double kFlagFalsePositives = 1.0;

/// The score from which a call counts, chosen on a run's validation, and what was reached there.
struct OperatingPoint {
  double threshold = 0;  ///< calls from this score on, this score among them
  double allowed_false_positives_per_scan = kFlagFalsePositives;
  double false_positives_per_scan = 0;
  double sensitivity = 0;  ///< annotated lesions that are hit, of all
  std::uint64_t scans = 0, lesions = 0;
  /// Of scans with an annotated lesion the part with a call, wherever it lies; of scans without
  /// lesions the part without a call. None where there are no such scans.
  std::optional<double> scan_sensitivity, scan_specificity;

  Json to_json() const;
};

/// The lowest score of a validation call from which on there are at most `false_positives_per_scan`
/// false positives a scan; the rule of `sensitivity_at_…` in eval.json, without interpolation. The
/// validation chose the weights or at least the threshold, so what was reached there is optimistic
/// for other scans. None where there is no call, or the highest score alone has more.
OrReason<OperatingPoint> operating_point(const ValidationLesions& validation,
                                         double false_positives_per_scan = kFlagFalsePositives);

}  // namespace headrace::predict
