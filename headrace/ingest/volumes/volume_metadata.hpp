#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/volumes/intensity_histogram.hpp"
#include "headrace/ingest/volumes/lesion_table.hpp"
#include "headrace/ingest/volumes/volume_job.hpp"

namespace headrace::ingest {

/// Stores of volumes: what the report repeats of an image is its notes.
CohortKind volume_kind();

/// What is known of a volume when its voxels are stored.
struct VolumeStoreFacts {
  const VolumeCase& volume;
  const VolumeOutlook& outlook;
  const imaging::VolumeFacts& source;
  const IntensityHistogram& body;
  std::vector<std::string> notes;  ///< of the source, its labels and its values
};

/// Writes histograms/<id>. foreground: voxels with a label that is neither 0 nor kIgnoreLabel.
void write_histogram(storage::Store& store, const std::string& id, const IntensityHistogram& body,
                     const IntensityHistogram& foreground);
/// Writes index/<id>. rows: of count_cells.
void write_volume_index(storage::Store& store, const std::string& id,
                        const std::vector<std::uint32_t>& rows, std::size_t classes);
/// Writes lesions/<id>.
void write_lesions(storage::Store& store, const std::string& id,
                   const std::vector<Lesion>& lesions);
/// Writes the groups of an image; its own comes last. This is the allow-list of what a store says
/// of a volume.
void write_volume_groups(storage::Store& store, const VolumeStoreFacts& facts,
                         const std::vector<std::string>& classes);

}  // namespace headrace::ingest
