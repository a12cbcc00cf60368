#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/volume/group_figures.hpp"
#include "learn/measure/volume/volume_metrics.hpp"

namespace headrace::measure {

struct JudgedVolume {
  VolumeFacts facts;
  VolumeFigures figures;
};

/// The volumes of an eval.json as they were measured, so that figures of any of them can be made
/// again (group_figures). Of what it leaves out (calibration, scores of voxels, places of findings)
/// the counts are empty.
struct EvaluatedVolumes {
  GroupRules rules;
  std::vector<JudgedVolume> volumes;

  /// Whether a figure that group_figures gives for these volumes is that of the evaluation.
  bool knows(const JsonPath& figure) const;
};

/// Reads it. Errors: unsupported (made by a version whose images have no matrix), malformed.
EvaluatedVolumes evaluated_volumes(const Json& evaluation, const std::string& origin);

}  // namespace headrace::measure
