#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/predict/volume/or_reason.hpp"

namespace headrace::predict {

/// What the search for lesions reached on the annotated scans of a run's validation.
struct ValidationLesions {
  struct Call {
    double score = 0;
    bool hit = false;  ///< an annotated lesion that no higher call hits
  };
  struct Scan {
    std::uint64_t lesions = 0;  ///< annotated
    double highest = 0;         ///< score of its highest call; 0 without one
  };
  /// A point of the FROC curve: calls from this score on.
  struct Threshold {
    double false_positives_per_scan = 0, sensitivity = 0, score = 0;
  };
  std::vector<Call> calls;       ///< of all scans
  std::vector<Scan> scans;       ///< those without lesions among them
  std::vector<Threshold> curve;  ///< by falling score
  std::uint64_t lesions = 0;     ///< annotated, hit or not
};

/// From an eval.json of volumes (docs/formats.md, "Evaluation of volumes"); `origin` names the file
/// in errors. None where lesions were not searched for, or none is annotated: then nothing is known
/// about what a score means. Errors: malformed (a key is missing or of another type).
OrReason<ValidationLesions> read_validation_lesions(const Json& evaluation,
                                                    const std::string& origin);

}  // namespace headrace::predict
