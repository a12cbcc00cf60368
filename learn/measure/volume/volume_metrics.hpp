#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "learn/measure/base/image_facts.hpp"
#include "learn/measure/volume/group_figures.hpp"

namespace headrace::measure {

struct VolumeFacts : ImageFacts {
  std::optional<std::string> phase;  ///< as ImageFacts::cohort
  /// Voxel index (x, y, z) → LPS millimetres, row-major; none: findings have a place in voxels.
  std::optional<std::array<double, 16>> affine_lps;
};

/// What eval.json calls the group of volumes of a scanner; of one that is not stated "not stated".
std::string scanner_group(const std::string& scanner);

/// Gathers the measurements of each volume, and makes the figures of eval.json from them.
class VolumeMetrics {
 public:
  /// `resamples` of the cases for the intervals of figures; 0: none.
  VolumeMetrics(VolumeRules rules, GroupRules group_rules, std::int64_t resamples,
                std::uint64_t seed);

  const VolumeRules& rules() const noexcept { return rules_; }
  /// The volume of this number; volumes are listed by it.
  void add(std::uint32_t image, VolumeFacts facts, VolumeFigures figures);

  /// {classes, labels, class_sets, lesion_classes, overall, cohorts, phases, cases, images[]} and,
  /// with lesion classes, lesion_probability, lesion_specificity and lesion_diameters_mm.
  Json to_json(bool intervals) const;
  std::optional<double> mean_dice() const;

 private:
  using Group = std::vector<std::uint32_t>;  ///< images
  /// In the order of their names.
  std::vector<CaseVolumes> cases_of(const Group& group,
                                    const std::map<std::uint32_t, VolumeFigures>& figures) const;
  Json group_json(const Group& group, bool intervals) const;
  Json image_json(std::uint32_t image) const;
  Json intervals_json(const Group& group) const;

  VolumeRules rules_;
  GroupRules group_rules_;
  std::int64_t resamples_;
  std::uint64_t seed_;
  std::map<std::uint32_t, VolumeFacts> facts_;
  std::map<std::uint32_t, VolumeFigures> images_;
  /// The same with rounded scores of voxels, so that a thousand resamples cost little.
  std::map<std::uint32_t, VolumeFigures> rounded_;
};

}  // namespace headrace::measure
