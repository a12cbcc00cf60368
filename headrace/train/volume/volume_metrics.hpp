#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/config/run_config.hpp"
#include "headrace/train/volume/group_figures.hpp"

namespace headrace::train {

/// Collects the measurements of each volume, and makes the figures of eval.json from them.
/// Intervals resample cases.
class VolumeMetrics {
 public:
  /// Errors: those of inference::lesion_class_values.
  VolumeMetrics(const cohort::Cohort& cohort, const loader::RunConfig& config);

  const VolumeRules& rules() const noexcept { return rules_; }
  void add(std::uint32_t image, VolumeFigures figures);

  /// {classes, labels, class_sets, lesion_classes, overall, cohorts, phases, cases, images[]} and,
  /// with lesion classes, lesion_probability.
  Json to_json(bool intervals) const;
  double mean_dice() const;  ///< 0 when undefined

 private:
  using Group = std::vector<std::uint32_t>;  ///< images
  Json group_json(const Group& group, bool intervals) const;
  Json image_json(std::uint32_t image) const;
  Json intervals_json(const Group& group) const;

  const cohort::Cohort& cohort_;
  const loader::RunConfig& config_;
  VolumeRules rules_;
  GroupRules group_rules_;
  std::map<std::uint32_t, VolumeFigures> images_;
  /// The same with rounded scores of voxels, so that a thousand resamples cost little.
  std::map<std::uint32_t, VolumeFigures> rounded_;
};

}  // namespace headrace::train
