#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headrace::train {

/// What FROC needs of one scan.
struct ScanCalls {
  struct Call {
    double score = 0;
    bool hit = false;
  };
  std::vector<Call> calls;
  std::size_t lesions = 0;  ///< annotated, hit or not
};

/// False positives a scan at which sensitivity is read off.
inline constexpr std::array<double, 6> kFrocFalsePositives{0.25, 0.5, 1, 2, 4, 8};

/// Free-response operating characteristic over scans, those without lesions among them.
struct Froc {
  struct Point {
    double false_positives = 0;  ///< a scan
    double sensitivity = 0;      ///< lesions hit, of all
    double score = 0;            ///< calls from this score on
  };
  std::size_t scans = 0, lesions = 0, calls = 0, hits = 0;
  /// One a distinct score, falling; calls of one score come together.
  std::vector<Point> curve;

  /// The highest sensitivity of the curve's points with at most this many false positives a scan; 0
  /// where even the first has more. No interpolation: what a threshold does reach. None without
  /// lesions.
  std::optional<double> sensitivity_at(double false_positives) const;
  /// Mean of sensitivity_at over kFrocFalsePositives.
  std::optional<double> mean_sensitivity() const;
};

Froc froc(std::span<const ScanCalls* const> scans);

}  // namespace headrace::train
