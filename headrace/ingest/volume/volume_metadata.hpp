#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/cohort/site_index.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/ingest/volume/volume_job.hpp"

namespace headrace::ingest {

/// Stores of volumes: ingest repeats the notes of an image at its end.
CohortKind volume_kind();

/// What is known about a volume when its voxels are stored.
struct VolumeMetadata {
  const VolumeCase& volume;
  const VolumeProbe& probe;
  const imaging::VolumeInfo& source;
  const std::vector<IntensityHistogram>& body;  ///< by channel
  std::vector<imaging::Note> notes;             ///< of the source and its values
};

/// What a version states about an image besides its voxels and labels: another allow-list.
Json columns_of(const VolumeCase& volume);

/// Writes how often each value occurs, without values that do not: rows (stored value + 32768,
/// voxels).
void write_histogram(storage::Store& store, const std::string& path,
                     const IntensityHistogram& histogram);
/// Writes the parts of the sampler's index. rows: from count_body_cells and count_label_cells.
void write_body_cells(storage::Store& store, const std::string& id,
                      const std::vector<std::uint32_t>& rows, const cohort::PartGrid& grid);
void write_label_cells(storage::Store& store, const std::string& path,
                       const std::vector<std::uint32_t>& rows, std::size_t columns);
/// Writes the groups of an image; its own comes last. This is the allow-list of what a store states
/// about a volume.
void write_volume_groups(storage::Store& store, const VolumeMetadata& metadata);

}  // namespace headrace::ingest
