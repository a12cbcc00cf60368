#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/note.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/ingest/volume/volume_case.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Stores everything of one label image of a volume, which lies below its own group: the pyramid,
/// the classes' part of the sampler's index, the lesions, the intensities under the labels. Of the
/// volume it needs its plan, and the values under the labels. Holds a byte a voxel.
class VolumeLabels {
 public:
  /// set: name of the label set; group: path of its group; lesion_values: classes of the lesion
  /// table. References must outlive this object.
  VolumeLabels(std::shared_ptr<storage::Store> store, std::string set, std::string group,
               const VolumePlan& plan, const std::vector<std::string>& classes,
               const std::vector<std::uint16_t>& lesion_values, ThreadPool& pool);

  /// Reads the labels of a volume onto the plan's grid and writes lesions and sites. Errors: those
  /// of read_case_labels.
  void read(const VolumeCase& volume, const Accepted& accepted);
  /// Level 0, (z, y, x): values of classes, or kIgnoreLabel.
  const std::vector<std::uint8_t>& values() const noexcept { return values_; }
  /// Writes the rest, the group's zarr.json last, and lets go of the values.
  /// under_labels: by channel, values of voxels with a label that is neither 0 nor kIgnoreLabel; of
  /// a channel that the volume lacks nothing
  void write(const std::vector<std::optional<IntensityHistogram>>& under_labels);

 private:
  void write_levels();

  std::shared_ptr<storage::Store> store_;
  std::string set_, group_;
  const VolumePlan& plan_;
  const std::vector<std::string>& classes_;
  const std::vector<std::uint16_t>& lesion_values_;
  ThreadPool& pool_;
  std::vector<std::uint8_t> values_;
  std::vector<imaging::Note> notes_;
};

}  // namespace headrace::ingest
