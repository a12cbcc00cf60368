#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/predict/volume/finding_rules.hpp"
#include "learn/predict/volume/predicted_lesion.hpp"
#include "learn/predict/volume/voxel_extent.hpp"

namespace headrace::predict {

/// What is said about one predicted volume besides its map. Places are in LPS millimetres and in
/// voxel indices of the map's grid, which is the store's (z, y, x) whatever the file's order.
struct VolumeFindings {
  FindingRules rules;
  imaging::VolumeGrid grid;
  std::vector<VoxelExtent> structures;   ///< by class value; that of class 0 stays empty
  std::vector<PredictedLesion> lesions;  ///< by falling score; empty where none were searched for

  /// The highest score of a lesion, 0 without one.
  double study_score() const;
  /// Whether a lesion reaches the operating point; none without an operating point.
  std::optional<bool> positive() const;

  /// {structures{class}, lesions[], lesion_search, calibration, study}: `lesions`, `lesion_search`,
  /// `calibration` and `study` are null where no lesions were searched for; `study.flag` and
  /// `calibration.curve` are null, with a `reason`, where the run's validation does not tell.
  Json to_json() const;
  /// One line for each lesion under a line of names; an undefined value is an empty cell. `id`:
  /// of the image, the first column.
  std::string lesions_csv(const std::string& id) const;
};

}  // namespace headrace::predict
