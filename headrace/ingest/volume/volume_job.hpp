#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/source_stamp.hpp"
#include "headrace/ingest/run/cohort_ingest.hpp"
#include "headrace/ingest/volume/channel_plan.hpp"
#include "headrace/ingest/volume/volume_case.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"
#include "headrace/ingest/volume/volume_sources.hpp"
#include "headrace/pixels/statistics/statistics_workspaces.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// What the volumes of one run share.
struct VolumeContext {
  std::shared_ptr<storage::Store> store;
  VolumeReading reading;
  const std::vector<std::string>& classes;
  const std::vector<std::uint16_t>& lesion_values;  ///< classes of the lesion table
  ThreadPool& pool;
  const Advance& advance;
  const Accepted& accept;
  pixels::StatisticsWorkspaces* workspaces =
      nullptr;  ///< of a device that gathers statistics; null: the CPU
};

/// An input that was examined, but not read yet.
struct VolumeProbe {
  VolumePlan plan;
  std::vector<ChannelPlan> further;  ///< of each further channel
  std::string fingerprint;           ///< of the source
  std::string label_fingerprint;     ///< of the labels; empty: there are none
  Json columns;                      ///< what a version states about it
  std::uint64_t source_bytes = 0, pixel_bytes = 0;
  std::uint64_t memory_bytes = 0;  ///< the most that it takes while it is stored
};

/// Fingerprint of a case's label files and of the options that decide how they are read; empty
/// where there are none. lesion_classes: those of --lesion-classes. An additional class changes it
/// only where it changes how these files are read.
std::string label_fingerprint(const VolumeCase& volume,
                              const std::vector<std::string>& lesion_classes);

/// Finds masks with other voxels before anything is stored; for DICOM labels this shows when they
/// are read. Errors: malformed.
void check_label_grids(const VolumeCase& volume, const imaging::VolumeGrid& image);

/// Opens a volume and plans its ingest. Errors: as open_case, with the table's line.
VolumeProbe look_at(const VolumeCase& volume, const VolumeIngestOptions& options);

/// Reads a volume once and stores everything that belongs to it; the image group's zarr.json comes
/// last. Holds the whole volume in memory: int16, and its labels while they are stored.
/// Errors: as of open_case and read_case_labels, and of the store.
FinishedImage ingest_volume(const VolumeContext& context, const VolumeCase& volume,
                            const VolumeProbe& probe);

}  // namespace headrace::ingest
