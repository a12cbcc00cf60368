#include "headrace/ingest/volume/channel_plan.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/volume/resample_volume.hpp"
#include "headrace/ingest/volume/canonical_slices.hpp"

namespace headrace::ingest {
namespace {

/// Whether the headers of both state their frame of reference and patient.
bool both_state_frames(const VolumeCase& volume, const ChannelSource& channel) {
  return volume.series && channel.series && !volume.series->frame_of_reference.empty() &&
         !channel.series->frame_of_reference.empty();
}

/// The error for a channel that can't be brought onto the grid of the first; names both.
[[noreturn]] void refuse(const VolumeCase& volume, const ChannelSource& channel,
                         const std::string& what, const std::string& advice) {
  fail(ErrorCode::unsupported, "{} (channel '{}') {} {} (channel '{}'){}",
       describe(channel.file, channel.series), channel.name, what,
       describe(volume.file, volume.series), volume.channel, advice);
}

}  // namespace

ChannelPlan plan_channel(const VolumeCase& volume, const ChannelSource& channel,
                         const imaging::VolumeReader& reader, const imaging::VolumeGrid& image,
                         bool shared_frame) {
  ChannelPlan plan;
  plan.file_grid = reader.info().grid;
  plan.modality = reader.info().modality;
  plan.source_bytes = reader.info().source_bytes;
  check_unit(describe(channel.file, channel.series), plan.modality, channel.name, channel.unit);
  if (volume.series && channel.series && volume.series->patient != channel.series->patient) {
    refuse(volume, channel, "is of another patient than", "; channels are of one patient");
  }
  const bool stated = both_state_frames(volume, channel);
  if (stated && volume.series->frame_of_reference != channel.series->frame_of_reference) {
    refuse(volume, channel, "lies in another frame of reference than",
           ", so where it belongs is not known; register it first, or leave it out");
  }
  plan.same_voxels = imaging::match_grids(plan.file_grid, image);
  if (plan.same_voxels) return plan;
  const std::string grids = fmt::format(" Grids: {}; and {}.", plan.file_grid.text(), image.text());
  if (!stated && !shared_frame) {
    refuse(volume, channel, "has other voxels than",
           fmt::format(", and neither says that they lie in one world; give {} if they do, or "
                       "bring them onto one grid.{}",
                       Option{"shared_frame"}, grids));
  }
  if (imaging::certainly_apart(plan.file_grid, image))
    refuse(volume, channel, "has no voxel in common with", "; bring them into one world." + grids);
  return plan;
}

void check_unit(const std::string& what, imaging::Modality modality, const std::string& channel,
                IntensityUnit unit) {
  const auto stated = imaging::unit_of(modality);
  if (!stated || *stated == unit) return;
  fail(ErrorCode::usage,
       "{} is {} in {}, but {} in {}; name it otherwise, or say its unit ({} NAME={})", what,
       name_of(modality), name_of(*stated),
       channel.empty() ? "volumes of one channel are CT" : fmt::format("channel '{}' is", channel),
       name_of(unit), Option{"channels"}, name_of(*stated));
}

std::vector<imaging::Note> read_channel(std::size_t number, const ChannelSource& channel,
                                        const ChannelPlan& plan,
                                        const imaging::VolumeReader& reader,
                                        const imaging::VolumeGrid& image, std::int16_t* stored,
                                        ThreadPool& pool) {
  const imaging::VolumeGrid& grid = reader.info().grid;
  if (grid.shape_zyx != plan.file_grid.shape_zyx) {
    fail(ErrorCode::io, "{}: the source changed while it was ingested",
         describe(channel.file, channel.series));
  }
  const auto nothing = [](std::int64_t) {};
  if (plan.same_voxels) {
    CanonicalSlices(reader, *plan.same_voxels, channel.unit, stored, pool, nothing)
        .read(0, image.shape_zyx[0]);
    return reader.info().notes;
  }
  std::vector<std::int16_t> own(static_cast<std::size_t>(grid.voxels()));
  CanonicalSlices(reader, {}, channel.unit, own.data(), pool, nothing).read(0, grid.shape_zyx[0]);
  const std::int64_t outside =
      imaging::resample_linear(own.data(), grid, image, stored_outside(channel.unit), stored, pool);
  if (outside == image.voxels()) {
    fail(ErrorCode::unsupported,
         "{} (channel '{}') has no voxel where the first channel has any. Grids: {}; and {}.",
         describe(channel.file, channel.series), channel.name, grid.text(), image.text());
  }
  std::vector<imaging::Note> notes = reader.info().notes;
  const double percent = 100 * static_cast<double>(outside) / static_cast<double>(image.voxels());
  notes.push_back(imaging::make_note(imaging::NoteCode::channel_resampled,
                                     {static_cast<double>(number), percent}));
  return notes;
}

}  // namespace headrace::ingest
