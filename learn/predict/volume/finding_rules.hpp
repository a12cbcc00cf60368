#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/config/run_config.hpp"
#include "learn/predict/volume/isotonic.hpp"
#include "learn/predict/volume/operating_point.hpp"
#include "learn/predict/volume/or_reason.hpp"

namespace headrace::predict {

/// How the findings of a volume are made from its probabilities.
struct FindingRules {
  std::vector<std::string> classes;          ///< by class value; 0 is background
  std::vector<std::uint8_t> lesion_classes;  ///< class values, rising; empty: no search for lesions
  double lesion_lowest = 0.1;                ///< lowest score of a lesion
  double lesion_min_mm3 = 0;                 ///< smaller ones are dropped
  OrReason<OperatingPoint> operating_point;
  OrReason<IsotonicCurve> calibration;
};

/// Values of the classes that are lesions, rising. Errors: usage (config::lesion_class_values).
std::vector<std::uint8_t> lesion_classes(const std::vector<std::string>& classes,
                                         const config::RunConfig& config);

/// The rules of a run: keys of `eval` as its evaluation takes them, and what scores mean from its
/// evaluation on the validation split with the same weights.
///
/// in      evaluation  eval.json, or why the run has none that fits the prediction
///         origin      names its file in errors
/// errors  usage (config::lesion_class_values), malformed (eval.json)
FindingRules finding_rules(const std::vector<std::string>& classes, const config::RunConfig& config,
                           const OrReason<Json>& evaluation, const std::string& origin,
                           double false_positives_per_scan = kFlagFalsePositives);

}  // namespace headrace::predict
