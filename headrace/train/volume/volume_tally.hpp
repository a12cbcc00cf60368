#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/train/bootstrap.hpp"
#include "headrace/train/volume/volume_figures.hpp"

namespace headrace::train {

/// Label values of eval.lesion_classes, or of every class above 0; none for a task without lesions.
/// Errors: usage (a class that the store does not have).
std::vector<std::uint8_t> lesion_class_values(const source::Cohort& cohort,
                                              const loader::RunConfig& config);

/// A figure of a group of volumes; its path in eval.json is group.name, or name alone.
struct FigureName {
  std::string group, name;
};

/// Collects what was measured on each volume, and makes the figures of eval.json from it.
///
/// Dice, surface Dice and HD95 of a group are means over its volumes, those left out on which the
/// figure is none; mean_dice is the mean of the Dice of the classes but the first. Lesion figures
/// pool the calls of the group's scans. Intervals resample cases.
class VolumeTally {
 public:
  /// Errors: those of lesion_class_values.
  VolumeTally(const source::Cohort& cohort, const loader::RunConfig& config);

  const VolumeRules& rules() const noexcept { return rules_; }
  void add(std::uint32_t image, VolumeFigures figures);

  /// {classes, lesion_classes, overall, cohorts, phases, cases, images[]}
  Json to_json(bool intervals) const;
  double mean_dice() const;  ///< 0 when undefined

 private:
  using Group = std::vector<std::uint32_t>;  ///< images
  Json group_json(const Group& group, bool intervals) const;
  Json image_json(std::uint32_t image) const;
  Json intervals_json(const Group& group) const;
  Figures figures_of(std::span<const std::uint32_t> group) const;

  const source::Cohort& cohort_;
  const loader::RunConfig& config_;
  VolumeRules rules_;
  std::vector<FigureName> names_;  ///< of figures_of
  std::map<std::uint32_t, VolumeFigures> images_;
};

}  // namespace headrace::train
