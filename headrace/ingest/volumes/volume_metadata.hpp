#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/volumes/intensity_histogram.hpp"
#include "headrace/ingest/volumes/volume_job.hpp"
#include "headrace/source/site_index.hpp"

namespace headrace::ingest {

/// Stores of volumes: the report repeats the notes of an image.
CohortKind volume_kind();

/// What is known about a volume when its voxels are stored.
struct VolumeStoreFacts {
  const VolumeCase& volume;
  const VolumeOutlook& outlook;
  const imaging::VolumeFacts& source;
  const std::vector<IntensityHistogram>& body;  ///< by channel
  std::vector<std::string> notes;               ///< of the source and its values
};

/// What a version states about an image besides its voxels and labels: another allow-list.
Json columns_of(const VolumeCase& volume, const imaging::VolumeFacts& source);

/// Writes how often each value occurs, without values that do not: rows (stored value + 32768,
/// voxels).
void write_histogram(storage::Store& store, const std::string& path,
                     const IntensityHistogram& histogram);
/// Writes the parts of the sampler's index. rows: from count_body_cells and count_label_cells.
void write_body_cells(storage::Store& store, const std::string& id,
                      const std::vector<std::uint32_t>& rows, const source::PartGrid& grid);
void write_label_cells(storage::Store& store, const std::string& path,
                       const std::vector<std::uint32_t>& rows, std::size_t columns);
/// Writes the groups of an image; its own comes last. This is the allow-list of what a store states
/// about a volume.
void write_volume_groups(storage::Store& store, const VolumeStoreFacts& facts);

}  // namespace headrace::ingest
