#include "headrace/ingest/volume/volume_labels.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/cohort/volume_record.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/ingest/store/site_rows.hpp"
#include "headrace/ingest/store/small_array.hpp"
#include "headrace/ingest/volume/lesion_table.hpp"
#include "headrace/ingest/volume/ome_volume.hpp"
#include "headrace/ingest/volume/shard_layers.hpp"
#include "headrace/ingest/volume/volume_cells.hpp"
#include "headrace/ingest/volume/volume_inputs.hpp"
#include "headrace/ingest/volume/volume_metadata.hpp"
#include "headrace/ingest/volume/volume_pyramid.hpp"

namespace headrace::ingest {
namespace {

void write_lesions(storage::Store& store, const std::string& group,
                   const std::vector<Lesion>& lesions) {
  constexpr std::int64_t kColumns = 12;
  std::vector<double> rows;
  for (const Lesion& lesion : lesions) {
    rows.insert(rows.end(), {static_cast<double>(lesion.class_value),
                             static_cast<double>(lesion.voxels), lesion.volume_mm3});
    rows.insert(rows.end(), lesion.centre_lps_mm.begin(), lesion.centre_lps_mm.end());
    for (const std::int64_t first : lesion.box_zyx) rows.push_back(static_cast<double>(first));
    for (const std::int64_t size : lesion.size_zyx) rows.push_back(static_cast<double>(size));
  }
  write_small_array(store, group + "/lesions",
                    {static_cast<std::int64_t>(lesions.size()), kColumns}, DType::float64, {},
                    {{"columns",
                      {"class", "voxels", "volume_mm3", "x_mm", "y_mm", "z_mm", "z", "y", "x",
                       "depth", "height", "width"}}},
                    std::as_bytes(std::span(rows)));
}

/// Slices that the source does not have teach nothing: nobody drew on them.
void ignore_filled(const imaging::SlicePlaces& slices, imaging::LabelVolume& labels) {
  if (slices.filled() == 0) return;
  const auto [depth, height, width] = labels.grid.shape_zyx;
  std::size_t voxel = 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x, ++voxel) {
        const std::array<std::int64_t, 3> at{x, y, z};
        const auto slice = static_cast<std::size_t>(at[static_cast<std::size_t>(slices.axis)]);
        if (!slices.offsets_mm.at(slice)) labels.voxels[voxel] = kIgnoreLabel;
      }
    }
  }
}

}  // namespace

VolumeLabels::VolumeLabels(std::shared_ptr<storage::Store> store, std::string set,
                           std::string group, const VolumePlan& plan,
                           const std::vector<std::string>& classes,
                           const std::vector<std::uint16_t>& lesion_values, ThreadPool& pool)
    : store_(std::move(store)),
      set_(std::move(set)),
      group_(std::move(group)),
      plan_(plan),
      classes_(classes),
      lesion_values_(lesion_values),
      pool_(pool) {}

void VolumeLabels::read(const VolumeCase& volume, const Accepted& accepted) {
  imaging::LabelVolume found = read_case_labels(volume, plan_.grid, accepted, plan_.slices);
  ignore_filled(plan_.slices, found);
  // While labels still have two bytes a voxel.
  SiteRows sites(volume_part_grid(plan_.spacing_mm_zyx()), plan_.grid.shape_zyx);
  write_lesions(*store_, group_,
                find_lesions(found.voxels.data(), plan_.grid, lesion_values_, sites));
  write_sites(*store_, group_, sites.grid(), 3, sites.blocks());
  values_.resize(found.voxels.size());
  const std::int64_t slice = plan_.grid.slice_voxels();
  pool_.parallel_for(static_cast<std::size_t>(plan_.grid.shape_zyx[0]), [&](std::size_t z) {
    const auto begin = static_cast<std::int64_t>(z) * slice;
    for (std::int64_t i = begin; i < begin + slice; ++i) {
      // Classes and ignore alone: read_case_labels refuses other values.
      const auto at = static_cast<std::size_t>(i);
      values_[at] = static_cast<std::uint8_t>(found.voxels[at]);
    }
  });
  notes_ = found.notes;
}

void VolumeLabels::write_levels() {
  for (int k = 0; k < static_cast<int>(plan_.levels.size()); ++k) {
    const VolumeLevelPlan& level = plan_.levels[static_cast<std::size_t>(k)];
    ShardLayers array(store_, fmt::format("{}/{}", group_, k), plan_.label_array(k));
    std::vector<std::uint8_t> slices;
    for (std::int64_t layer = 0; layer < array.layers(); ++layer) {
      const std::int64_t z0 = array.first_slice(layer), depth = array.depth(layer);
      const std::uint8_t* src = values_.data() + z0 * plan_.grid.slice_voxels();
      if (k > 0) {
        slices.resize(static_cast<std::size_t>(depth * array.slice_bytes()));
        pick_labels(values_.data(), plan_.grid.shape_zyx, level, z0, depth, slices.data(), pool_);
        src = slices.data();
      }
      array.write(layer, reinterpret_cast<const std::byte*>(src), pool_);
    }
    array.finish();
  }
}

void VolumeLabels::write(const std::vector<std::optional<IntensityHistogram>>& under_labels) {
  for (std::size_t c = 0; c < under_labels.size(); ++c) {
    if (!under_labels[c]) continue;
    write_histogram(*store_, group_ + "/" + cohort::label_histogram_name(c), *under_labels[c]);
  }
  const LabelCellRows cells =
      count_label_cells(values_.data(), plan_.grid.shape_zyx, classes_.size(), pool_);
  write_label_cells(*store_, group_ + "/index", cells.rows, cells.columns);
  write_levels();
  std::vector<std::uint8_t>().swap(values_);
  // Only classes that occur, so that classes that the store gets later change nothing here.
  const std::vector<std::string> seen(
      classes_.begin(), classes_.begin() + static_cast<std::ptrdiff_t>(cells.columns - 3));
  write_group(*store_, group_,
              {{"ome", cohort::ome_label_image(volume_multiscales(plan_, set_, false), seen)},
               {"headrace", {{"notes", imaging::to_json(notes_)}}}});
}

}  // namespace headrace::ingest
