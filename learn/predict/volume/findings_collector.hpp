#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/predict/volume/finding_rules.hpp"
#include "learn/predict/volume/predicted_lesion.hpp"
#include "learn/predict/volume/volume_findings.hpp"

namespace headrace::predict {

/// Takes the prediction of one volume slice by slice along z, and makes its findings. Calls are
/// found as an evaluation finds them (formats.md, "Evaluation of volumes"), so the run's validation
/// tells what their scores mean. Not thread-safe.
///
/// memory  with lesion classes 3 bytes a voxel of the volume, and what find_calls_with_voxels
///         takes; else a few numbers a slice
class FindingsCollector {
 public:
  /// `grid`: of level 0, in the store's order.
  FindingsCollector(FindingRules rules, const imaging::VolumeGrid& grid);

  /// The next slice.
  ///
  /// in      classes  (y, x) class, or result::kNotPredicted
  ///         scores   (y, x) of the lesion classes together (VoxelScores); empty without such
  ///         body     (y, x), not 0 is body; empty where it is not known
  /// errors  internal (a wrong size, a value that is no class, more slices than the grid has)
  void add(std::span<const std::uint8_t> classes, std::span<const std::uint16_t> scores,
           std::span<const std::uint8_t> body);
  /// After the last slice, once. Errors: internal (slices are missing).
  VolumeFindings finish();

 private:
  void check_slice(std::span<const std::uint8_t> classes, std::span<const std::uint16_t> scores,
                   std::span<const std::uint8_t> body) const;
  void count_structures(std::span<const std::uint8_t> classes);
  void find_lesions();

  VolumeFindings findings_;
  PredictedMap map_;
  std::vector<std::uint16_t> scores_;  ///< of the lesion classes together, in steps of 1/65535
  std::int64_t next_ = 0;              ///< slice
};

}  // namespace headrace::predict
