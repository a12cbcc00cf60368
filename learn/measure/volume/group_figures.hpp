#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/volume/volume_figures.hpp"

namespace headrace::measure {

/// How the figures of a group of volumes are made.
struct GroupRules {
  std::vector<std::string> classes;
  std::vector<bool> untold;  ///< as VolumeRules
  bool lesions = false;
  double operating_score = 0.5;  ///< counts of hits and false positives take calls from here on
  double specificity = 0.9;      ///< at which the sensitivity for cases is read off
  std::vector<double> diameters_mm{6, 10, 20};  ///< limits between sizes of lesions; ascending
};

/// The volumes of one case. Figures of a resample may hold a case more than once.
struct CaseVolumes {
  std::vector<const VolumeFigures*> volumes;
};

/// A figure of a group, and its path in eval.json.
struct GroupFigure {
  JsonPath path;
  std::optional<double> value;
};

/// All figures of a group that have intervals; the same, in the same order, for every group.
///
/// Dice, surface Dice and HD95 are means over volumes, without volumes on which the figure is none;
/// mean_dice is the mean of the Dice of the classes but the first. pooled_dice, iou and accuracy,
/// calibration and the AUC of voxels are of all voxels together. Lesions pool the calls of the
/// group's annotated scans. A case is positive with an annotated lesion in one of its scans, and
/// its score is that of its highest call, 0 without one.
std::vector<GroupFigure> group_figures(std::span<const CaseVolumes* const> cases,
                                       const GroupRules& rules);

/// These figures and the counts, matrices and curves that they come from (docs/formats.md).
Json group_json(std::span<const CaseVolumes* const> cases, const GroupRules& rules);

/// Diameter in mm of a ball of this volume.
double ball_diameter_mm(double volume_mm3);

}  // namespace headrace::measure
