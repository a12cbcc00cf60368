#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headrace::measure {

/// The data of one scan for FROC.
struct ScanCalls {
  struct Call {
    double score = 0;
    bool hit = false;
  };
  std::vector<Call> calls;
  std::size_t lesions = 0;  ///< annotated, hit or not
};

/// False positives a scan at which sensitivity is read off; the mean over them is the competition
/// performance metric. source  Setio et al., Medical Image Analysis 42, 2017 (LUNA16)
inline constexpr std::array<double, 7> kFrocFalsePositives{0.125, 0.25, 0.5, 1, 2, 4, 8};

/// Free-response operating characteristic over scans, those without lesions among them.
struct Froc {
  struct Point {
    double false_positives = 0;  ///< a scan
    double sensitivity = 0;      ///< lesions hit, of all
    double score = 0;            ///< calls from this score on
    std::size_t calls = 0, hits = 0;
  };
  std::size_t scans = 0, lesions = 0;
  /// One for each distinct score, falling; calls of equal score come together.
  std::vector<Point> curve;

  /// The lowest threshold with at most this many false positives a scan; none where even the
  /// highest score has more, or there are no calls.
  const Point* at_most(double false_positives) const;
  /// All calls from this score on; none where there is no such call.
  const Point* from_score(double score) const;
  /// Sensitivity there, 0 without such a threshold. Without interpolation, unlike LUNA16's script:
  /// only what a threshold reaches. None without lesions.
  std::optional<double> sensitivity_at(double false_positives) const;
  /// Mean of sensitivity_at over kFrocFalsePositives.
  std::optional<double> mean_sensitivity() const;
};

Froc froc(std::span<const ScanCalls> scans);

}  // namespace headrace::measure
