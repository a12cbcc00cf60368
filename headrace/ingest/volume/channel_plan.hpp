#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/ingest/volume/volume_case.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"

namespace headrace::ingest {

/// How a further channel of a volume is brought onto the grid of the first; decided before a voxel
/// is read.
struct ChannelPlan {
  bool missing = false;  ///< the volume lacks it, and so does the store
  /// How its axes lie on the volume's, where both have the same voxels, which are then taken
  /// unchanged. Without it the channel is resampled.
  std::optional<imaging::AxisMap> same_voxels;
  imaging::VolumeGrid file_grid;
  imaging::Modality modality = imaging::Modality::unknown;
  std::uint64_t source_bytes = 0;
};

/// Plans a further channel. It is taken unchanged where it has the voxels of the first (up to the
/// order of its axes), and is resampled where both lie in one world: DICOM series of one patient
/// and one frame of reference, or files for which the user states it (shared_frame). DICOM series
/// that state different frames of reference are refused even where their numbers agree.
///
/// image  the volume's grid in canonical order
/// errors unsupported: naming both files, and why one can't be brought onto the other; usage:
///        another modality than the channel's unit
ChannelPlan plan_channel(const VolumeCase& volume, const ChannelSource& channel,
                         const imaging::VolumeReader& reader, const imaging::VolumeGrid& image,
                         bool shared_frame);

/// Refuses a series whose headers state a modality of another unit than its channel's. `what`: the
/// series in words. Errors: usage.
void check_unit(const std::string& what, imaging::Modality modality, const std::string& channel,
                IntensityUnit unit);

/// Reads a channel onto the volume's grid: (z, y, x) in canonical order; voxels that it lacks get
/// the outside value of its unit. Returns notes; number: of the channel, for the notes. Errors: as
/// VolumeReader::read_int16; unsupported (no voxel in common).
std::vector<imaging::Note> read_channel(std::size_t number, const ChannelSource& channel,
                                        const ChannelPlan& plan,
                                        const imaging::VolumeReader& reader,
                                        const imaging::VolumeGrid& image, std::int16_t* stored,
                                        ThreadPool& pool);

}  // namespace headrace::ingest
