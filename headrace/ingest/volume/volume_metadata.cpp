#include "headrace/ingest/volume/volume_metadata.hpp"

#include "headrace/cohort/volume_record.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/ingest/store/small_array.hpp"
#include "headrace/ingest/volume/body_mask.hpp"
#include "headrace/ingest/volume/ome_volume.hpp"
#include "headrace/ingest/volume/volume_cells.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kLowest = -32768, kHighest = 32767;  ///< stored values

Json body_json(const IntensityHistogram& body, const VolumePlan& plan) {
  const std::uint64_t voxels = body.count();
  return {{"voxels", voxels},
          {"fraction", static_cast<double>(voxels) / static_cast<double>(plan.grid.voxels())},
          {"threshold_hu", kBodyThresholdHu},
          {"mean", body.mean()},
          {"std", body.std()},
          {"p00_5", body.percentile(0.5)},
          {"p05", body.percentile(5)},
          {"p50", body.percentile(50)},
          {"p95", body.percentile(95)},
          {"p99_5", body.percentile(99.5)}};
}

/// The data that bring voxels back into the order of their file.
Json file_grid_json(const VolumePlan& plan) {
  return {{"shape_zyx", plan.file_grid.shape_zyx},
          {"affine_lps", plan.file_grid.affine_lps},
          {"axis_of_xyz", plan.from_file.axis},
          {"reversed_xyz", plan.from_file.flip}};
}

/// Numbers, and null for slices that were filled in.
Json slices_json(const imaging::SlicePlaces& slices) {
  Json offsets = Json::array();
  for (const auto& offset : slices.offsets_mm)
    offsets.push_back(offset ? Json(to_six_decimals(*offset)) : Json());
  return {{"axis", slices.axis}, {"offsets_mm", std::move(offsets)}};
}

std::string format_of(const std::string& file, bool dicom) {
  if (dicom) return "DICOM";
  const auto ends = [&](const char* end) { return file.ends_with(end); };
  if (ends(".nrrd") || ends(".nhdr")) return "NRRD";
  return ends(".mha") || ends(".mhd") ? "MetaImage" : "NIfTI";
}

/// A channel's name, and the meaning of its stored values.
Json channel_json(const std::string& name, IntensityUnit unit, bool stored) {
  Json json = {{"name", name}, {"stored", stored}, {"unit", std::string(name_of(unit))}};
  if (stored_per_unit(unit) > 1) json["scale"] = 1.0 / stored_per_unit(unit);
  return json;
}

/// What is stated about each channel of a store with several.
Json channels_json(const VolumeMetadata& metadata) {
  const VolumeCase& volume = metadata.volume;
  Json channels = Json::array();
  Json first = channel_json(volume.channel, IntensityUnit::hu, true);
  first["modality"] = std::string(name_of(metadata.source.modality));
  first["body"] = body_json(metadata.body[0], metadata.probe.plan);
  channels.push_back(std::move(first));
  for (std::size_t c = 0; c < volume.further.size(); ++c) {
    const ChannelSource& source = volume.further[c];
    const ChannelPlan& plan = metadata.probe.further[c];
    Json channel = channel_json(source.name, source.unit, !plan.missing);
    if (!plan.missing) {
      channel["modality"] = std::string(name_of(plan.modality));
      channel["resampled"] = !plan.same_voxels.has_value();
      channel["source"] = {{"format", format_of(source.file, source.series.has_value())},
                           {"bytes", plan.source_bytes}};
      // So labels that come later also know which voxels the series reaches.
      if (!plan.same_voxels) {
        channel["file_grid"] = {{"shape_zyx", plan.file_grid.shape_zyx},
                                {"affine_lps", plan.file_grid.affine_lps}};
      }
      channel["body"] = body_json(metadata.body[c + 1], metadata.probe.plan);
    }
    channels.push_back(std::move(channel));
  }
  return channels;
}

Json image_attributes(const VolumeMetadata& metadata) {
  const VolumePlan& plan = metadata.probe.plan;
  Json levels = Json::array(), downsample = Json::array();
  for (const auto& level : plan.levels) {
    levels.push_back(level.shape_zyx);
    downsample.push_back(level.factor_zyx);
  }
  Json json = {{"modality", std::string(name_of(metadata.source.modality))},
               {"codec", name_of(plan.codec)},
               {"levels", levels},
               {"downsample", downsample},
               {"spacing_mm", plan.spacing_mm_zyx()},
               {"affine_lps", plan.grid.affine_lps},
               {"file_grid", file_grid_json(plan)},
               {"body", body_json(metadata.body[0], plan)},
               {"source",
                {{"format", format_of(metadata.volume.file, metadata.volume.series.has_value())},
                 {"bytes", metadata.probe.source_bytes},
                 {"fingerprint", metadata.probe.fingerprint}}},
               {"notes", imaging::to_json(metadata.notes)}};
  if (!plan.slices.even()) json["slices"] = slices_json(plan.slices);
  if (!metadata.volume.further.empty()) json["channels"] = channels_json(metadata);
  return json;
}

/// Each further channel is an OME-Zarr image of its own, on the grid of the first.
void write_channel_groups(storage::Store& store, const VolumeMetadata& metadata) {
  if (metadata.volume.further.empty()) return;
  const std::string image = "images/" + metadata.volume.id;
  write_group(store, image + "/channels", Json::object());
  for (std::size_t c = 0; c < metadata.volume.further.size(); ++c) {
    if (metadata.probe.further[c].missing) continue;
    const ChannelSource& channel = metadata.volume.further[c];
    write_group(store, image + "/" + cohort::channel_folder(c + 1),
                {{"ome", ome_volume(metadata.probe.plan, channel.name, channel.unit)}});
  }
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

CohortKind volume_kind() {
  return {"volume", {"images", "index", "histograms"}, {}, sizeof(std::int16_t)};
}

Json columns_of(const VolumeCase& volume) {
  Json columns = {{"case", volume.case_id},
                  {"cohort", volume.cohort},
                  {"split", volume.split},
                  {"phase", name_of(volume.phase)},
                  {"negative", or_null(volume.negative)}};
  // Stores whose tables lack it are the same as before this column existed.
  if (!volume.scanner.empty()) columns["scanner"] = volume.scanner;
  if (!volume.free.empty()) columns["free"] = volume.free;
  return columns;
}

void write_histogram(storage::Store& store, const std::string& path,
                     const IntensityHistogram& histogram) {
  std::vector<std::uint64_t> rows;
  for (std::int64_t stored = kLowest; stored <= kHighest; ++stored) {
    const std::uint64_t voxels = histogram.count_of(static_cast<std::int16_t>(stored));
    if (voxels > 0) rows.insert(rows.end(), {static_cast<std::uint64_t>(stored - kLowest), voxels});
  }
  const char* values = histogram.unit() == IntensityUnit::suv ? "suv * 100 + 32768" : "hu + 32768";
  write_small_array(store, path, {static_cast<std::int64_t>(rows.size()) / 2, 2}, DType::uint64, {},
                    {{"columns", {values, "voxels"}}}, bytes_of(rows));
}

void write_body_cells(storage::Store& store, const std::string& id,
                      const std::vector<std::uint32_t>& rows, const cohort::PartGrid& grid) {
  constexpr std::int64_t kColumns = 12;
  write_small_array(store, "index/" + id,
                    {static_cast<std::int64_t>(rows.size()) / kColumns, kColumns}, DType::uint32,
                    {}, {{"cell_size_zyx", grid.block_zyx}, {"part", grid.part_zyx}},
                    bytes_of(rows));
}

void write_label_cells(storage::Store& store, const std::string& path,
                       const std::vector<std::uint32_t>& rows, std::size_t columns) {
  write_small_array(
      store, path,
      {static_cast<std::int64_t>(rows.size() / columns), static_cast<std::int64_t>(columns)},
      DType::uint32, {}, {{"cell_size_zyx", {kVolumeCell, kVolumeCell, kVolumeCell}}},
      bytes_of(rows));
}

void write_volume_groups(storage::Store& store, const VolumeMetadata& metadata) {
  const std::string image = "images/" + metadata.volume.id;
  const VolumePlan& plan = metadata.probe.plan;
  write_group(store, image + "/masks", Json::object());
  write_channel_groups(store, metadata);
  write_group(
      store, image,
      {{"ome", ome_volume(plan, metadata.volume.id)}, {"headrace", image_attributes(metadata)}});
}

}  // namespace headrace::ingest
