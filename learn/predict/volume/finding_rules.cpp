#include "learn/predict/volume/finding_rules.hpp"

#include <algorithm>

#include "learn/config/figure_rules.hpp"
#include "learn/predict/volume/validation_lesions.hpp"

namespace headrace::predict {

std::vector<std::uint8_t> lesion_classes(const std::vector<std::string>& classes,
                                         const config::RunConfig& config) {
  std::vector<std::uint8_t> out = config::lesion_class_values(classes, config);
  std::sort(out.begin(), out.end());
  return out;
}

FindingRules finding_rules(const std::vector<std::string>& classes, const config::RunConfig& config,
                           const OrReason<Json>& evaluation, const std::string& origin,
                           double false_positives_per_scan) {
  FindingRules out;
  out.classes = classes;
  out.lesion_classes = lesion_classes(classes, config);
  out.lesion_lowest = config.eval.lesion_lowest;
  out.lesion_min_mm3 = config.eval.lesion_min_mm3;
  if (out.lesion_classes.empty()) return out;
  const auto validation = evaluation.value ? read_validation_lesions(*evaluation.value, origin)
                                           : OrReason<ValidationLesions>::none(evaluation.reason);
  if (validation.value) {
    out.operating_point = operating_point(*validation.value, false_positives_per_scan);
    out.calibration = calibration_of_calls(*validation.value);
  } else {
    out.operating_point.reason = out.calibration.reason = validation.reason;
  }
  return out;
}

}  // namespace headrace::predict
