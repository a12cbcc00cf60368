#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/imaging/volume/nrrd.hpp"
#include "headrace/imaging/volume/slicer_segmentation.hpp"
#include "headrace/ingest/volume/volume_job.hpp"
#include "headrace/ingest/volume/volume_metadata.hpp"

namespace headrace::ingest {
namespace {

/// For a series: its files in the order of its slices, so that their names do not matter.
Json series_stamps(const imaging::DicomSeries& series) {
  Json stamps = Json::array();
  std::string last;
  for (const auto& slice : series.slices) {
    if (slice.path == last) continue;  // frames of one file follow each other
    last = slice.path;
    const imaging::SourceStamp stamp = imaging::stamp_slice_file(slice.path);
    stamps.push_back({stamp.size_bytes, stamp.sha256});
    // SUV follows from the header, of which a large file's stamp need not know, and from our rule.
    if (series.modality == imaging::Modality::pet)
      stamps.back().push_back({slice.slope, slice.intercept});
  }
  return stamps;
}

Json file_stamp(const std::string& file) {
  const imaging::SourceStamp stamp = imaging::stamp_source(file);
  return {stamp.size_bytes, stamp.sha256};
}

Json stamps_of(const std::string& file, const std::optional<imaging::DicomSeries>& series) {
  return series ? series_stamps(*series) : file_stamp(file);
}

std::string fingerprint_of(const VolumeCase& volume, std::uint64_t source_bytes,
                           const VolumeIngestOptions& options) {
  Json parts{{"bytes", source_bytes}};
  if (!options.rescale.empty()) parts["rescale"] = options.rescale;
  with_context(place_of(volume), [&] { parts["source"] = stamps_of(volume.file, volume.series); });
  for (const ChannelSource& channel : volume.further) {
    with_context(place_of(volume, channel), [&] {
      parts["further"].push_back(channel.missing() ? Json(nullptr)
                                                   : stamps_of(channel.file, channel.series));
    });
  }
  return sha256_hex(dump_json(parts));
}

/// Refuses a volume most of which the source does not have.
void check_filled(const std::string& what, const imaging::VolumeInfo& info,
                  const Accepted& accept) {
  const std::size_t filled = info.slices.filled(), all = info.slices.offsets_mm.size();
  if (2 * filled <= all) return;
  refuse_unless(accept, Doubt::invented, ErrorCode::malformed,
                fmt::format("{}: {} of {} slices would be filled in between those that are there, "
                            "{:.4g} mm apart, expected at most half",
                            what, filled, all, info.grid.spacing_mm(2)));
}

/// Refuses voxels of a size that no CT or PET of a body has: a unit that was taken for another.
void check_voxel_size(const std::string& what, const imaging::VolumeGrid& grid,
                      const Accepted& accept) {
  constexpr double kLeastMm = 0.02, kMostMm = 50;
  for (int axis = 0; axis < 3; ++axis) {
    const double size = grid.spacing_mm(axis);
    if (size >= kLeastMm && size <= kMostMm) continue;
    refuse_unless(accept, Doubt::values, ErrorCode::malformed,
                  fmt::format("{}: voxels of {:.4g} x {:.4g} x {:.4g} mm (x, y, z), expected {} to "
                              "{} mm along each axis; the header may state metres or micrometres "
                              "as millimetres",
                              what, grid.spacing_mm(0), grid.spacing_mm(1), grid.spacing_mm(2),
                              kLeastMm, kMostMm));
    return;
  }
}

std::vector<ChannelPlan> plan_channels(const VolumeCase& volume, const imaging::VolumeGrid& grid,
                                       const VolumeIngestOptions& options) {
  std::vector<ChannelPlan> plans;
  for (const ChannelSource& channel : volume.further) {
    ChannelPlan& plan = plans.emplace_back();
    plan.missing = channel.missing();
    if (plan.missing) continue;
    with_context(place_of(volume, channel), [&] {
      const auto reader = open_channel(channel, reading_of(options));
      check_filled(describe(channel.file, channel.series), reader->info(), options.accept);
      check_voxel_size(describe(channel.file, channel.series), reader->info().grid, options.accept);
      plan = plan_channel(volume, channel, *reader, grid, options.shared_frame);
    });
  }
  return plans;
}

/// Voxels as int16 and as label values of two bytes, then of one; the next level; masks of a bit.
constexpr std::uint64_t kBytesPerVoxel = 6;

void add_sizes(VolumeProbe& probe) {
  std::uint64_t pixels = 0, moving = 0;
  for (const auto& level : probe.plan.levels)
    pixels += sizeof(std::int16_t) * static_cast<std::uint64_t>(voxels_of(level.shape_zyx));
  probe.pixel_bytes = pixels;
  for (const ChannelPlan& channel : probe.further) {
    if (channel.missing) continue;
    probe.pixel_bytes += pixels;
    probe.source_bytes += channel.source_bytes;
    if (channel.same_voxels) continue;
    moving = std::max(moving, static_cast<std::uint64_t>(channel.file_grid.voxels()));
  }
  probe.memory_bytes = kBytesPerVoxel * static_cast<std::uint64_t>(probe.plan.grid.voxels()) +
                       sizeof(std::int16_t) * moving;
}

/// A label file by its place in the list, since names of files decide nothing.
std::ptrdiff_t place_in(const VolumeCase& volume, const std::string& path) {
  return std::find(volume.labels.begin(), volume.labels.end(), path) - volume.labels.begin();
}

}  // namespace

void check_label_grids(const VolumeCase& volume, const imaging::VolumeGrid& image) {
  for (const auto& label : volume.labels) {
    if (!imaging::is_volume_file(label)) continue;
    with_context(label, [&] {
      const auto grid = volume.masks_by_name.contains(label)
                            ? imaging::open_layered_nrrd(label).grid
                            : imaging::open_volume(label)->info().grid;
      imaging::check_label_grid(grid, image, imaging::extent_of_mask(label));
    });
  }
}

std::string label_fingerprint(const VolumeCase& volume,
                              const std::vector<std::string>& lesion_classes) {
  if (volume.labels.empty()) return "";
  const std::set<std::string> lesions(lesion_classes.begin(), lesion_classes.end());
  Json parts{{"set", volume.label_set}, {"lesions", lesions}};
  for (const auto& label : volume.labels) {
    const imaging::SourceStamp stamp = imaging::stamp_label_file(label);
    parts["labels"].push_back({stamp.size_bytes, stamp.sha256});
  }
  for (const auto& [name, value] : volume.coding) {
    if (name != fmt::format("value {}", value)) parts["coding"].push_back({name, value});
  }
  for (const auto& path : volume.masks_by_name) parts["by_name"].push_back(place_in(volume, path));
  for (const auto& [path, value] : volume.replaced)
    parts["replaced"].push_back({place_in(volume, path), value});
  return sha256_hex(dump_json(parts));
}

VolumeProbe look_at(const VolumeCase& volume, const VolumeIngestOptions& options) {
  VolumeProbe probe = with_context(place_of(volume), [&] {
    VolumeProbe probe;
    const auto reader = open_case(volume, reading_of(options));
    check_filled(describe(volume.file, volume.series), reader->info(), options.accept);
    check_voxel_size(describe(volume.file, volume.series), reader->info().grid, options.accept);
    check_unit(describe(volume.file, volume.series), reader->info().modality, volume.channel,
               IntensityUnit::hu);
    probe.plan = plan_volume(reader->info().grid, options);
    probe.plan.slices = reordered(reader->info().slices, probe.plan.from_file);
    check_label_grids(volume, reader->info().grid);
    probe.label_fingerprint = label_fingerprint(volume, options.lesion_classes);
    probe.columns = columns_of(volume);
    probe.source_bytes = reader->info().source_bytes;
    return probe;
  });
  probe.fingerprint = fingerprint_of(volume, probe.source_bytes, options);
  probe.further = plan_channels(volume, probe.plan.grid, options);
  add_sizes(probe);
  return probe;
}

}  // namespace headrace::ingest
