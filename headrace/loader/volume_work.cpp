#include "headrace/loader/volume_work.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/loader/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

std::int64_t slice_voxels(const Box3& window, std::int64_t row) { return row * window.size_zyx[1]; }

}  // namespace

void VolumeWork::plan_sample(std::size_t s, const transform::SampleKey& key) {
  Sample& sample = samples_[s];
  const RunConfig& config = recipe_.config;
  const SampleSite& site = sites_[s];
  const source::ImageRecord& image = recipe_.cohort->images()[site.image];
  const std::size_t k = choose_volume_level(image, config);
  const source::VolumeLevel& level = image.volume->levels[k];
  sample.params = recipe_.volume.draw(key, image.volume->body, recipe_.plan->random());
  recipe_.volume.locate(*sample.params,
                        {site.centre_level0_z / level.downsample_zyx[0],
                         site.centre_level0_yx[0] / level.downsample_zyx[1],
                         site.centre_level0_yx[1] / level.downsample_zyx[2]},
                        level_spacing_mm_zyx(image, k, config), sample.geometry);
  const Box3& window = sample.geometry.window;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto [first, count] =
        part_inside(window.origin_zyx[axis], window.size_zyx[axis], level.shape_zyx[axis]);
    sample.extent.origin_zyx[axis] = first;
    sample.extent.size_zyx[axis] = count;
  }
  sample.empty = sample.extent.voxels() == 0;
  sample.row = round_up(window.size_zyx[2], 32);
  sample.image = recipe_.cohort->image_array(site.image, k);
  sample.label = labels_of(site.image, k);
  sample.has_label = sample.label != nullptr;
  sample.image_slabs.clear();
  sample.label_slabs.clear();
  if (sample.empty) return;
  const transform::VolumeReach reach(*sample.params, config.volume_patch, sample.geometry,
                                     sample.extent);
  cut(sample, reach, *sample.image, sample.image_slabs);
  if (sample.has_label) cut(sample, reach, *sample.label, sample.label_slabs);
}

/// Goes through the chunks under the extent: slab by slab, chunk row by chunk row, and in each from
/// the first chunk that is reached to the last.
void VolumeWork::cut(const Sample& sample, const transform::VolumeReach& reach,
                     const zarr::Array& array, std::vector<Slab>& slabs) {
  const Box3& extent = sample.extent;
  const auto& chunk = array.inner_chunk_shape();
  std::array<std::vector<std::int64_t>, 3> edges;  // of the chunks, from the extent's corner
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t low = sample.geometry.window.origin_zyx[axis] + extent.origin_zyx[axis];
    edges[axis] = {0};
    for (std::int64_t at = (low / chunk[axis] + 1) * chunk[axis] - low; at < extent.size_zyx[axis];
         at += chunk[axis])
      edges[axis].push_back(at);
    edges[axis].push_back(extent.size_zyx[axis]);
  }
  const auto reached = [&](std::size_t k, std::size_t j, std::size_t i) {
    const std::array<std::size_t, 3> at{k, j, i};
    Box3 box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.origin_zyx[axis] = extent.origin_zyx[axis] + edges[axis][at[axis]];
      box.size_zyx[axis] = edges[axis][at[axis] + 1] - edges[axis][at[axis]];
    }
    return reach.touches(box);
  };
  for (std::size_t k = 0; k + 1 < edges[0].size(); ++k) {
    Slab slab{edges[0][k], edges[0][k + 1] - edges[0][k], {}, 0};
    bool any = false;
    for (std::size_t j = 0; j + 1 < edges[1].size(); ++j) {
      std::size_t first = 0, last = edges[2].size() - 1;
      while (first < last && !reached(k, j, first)) ++first;
      while (last > first && !reached(k, j, last - 1)) --last;
      any |= first < last;
      const zarr::RowSpan span{static_cast<std::int32_t>(edges[2][first]),
                               static_cast<std::int32_t>(edges[2][last])};
      slab.spans.insert(slab.spans.end(), static_cast<std::size_t>(edges[1][j + 1] - edges[1][j]),
                        span);
    }
    if (any) slabs.push_back(std::move(slab));
  }
}

void VolumeWork::add_slabs(const Sample& sample, const std::shared_ptr<const zarr::Array>& array,
                           std::int64_t voxel_bytes, std::vector<Slab>& slabs) {
  const Box3& window = sample.geometry.window;
  for (Slab& slab : slabs) {
    zarr::RegionRead region;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      region.origin.push_back(window.origin_zyx[axis] + sample.extent.origin_zyx[axis]);
      region.shape.push_back(sample.extent.size_zyx[axis]);
    }
    region.origin[0] += slab.first;
    region.shape[0] = slab.count;
    region.strides_bytes = {slice_voxels(window, sample.row) * voxel_bytes,
                            sample.row * voxel_bytes, voxel_bytes};
    region.row_spans = slab.spans;
    slab.read = add_region(array, std::move(region));
  }
}

void VolumeWork::add_reads(std::size_t s) {
  Sample& sample = samples_[s];
  add_slabs(sample, sample.image, sizeof(std::int16_t), sample.image_slabs);
  add_slabs(sample, sample.label, sizeof(std::uint8_t), sample.label_slabs);
}

std::int64_t VolumeWork::window_voxels(const Sample& sample) {
  const Box3& window = sample.geometry.window;
  return slice_voxels(window, sample.row) * window.size_zyx[0];
}

template <typename T>
void VolumeWork::decode(const Sample& sample, const std::vector<Slab>& slabs, std::byte* memory) {
  for (const Slab& slab : slabs) {
    read_.decode(slab.read, memory + first_voxel(sample, slab) * std::int64_t{sizeof(T)});
  }
}

std::int64_t VolumeWork::first_voxel(const Sample& sample, const Slab& slab) {
  const Box3& extent = sample.extent;
  return (extent.origin_zyx[0] + slab.first) * slice_voxels(sample.geometry.window, sample.row) +
         extent.origin_zyx[1] * sample.row + extent.origin_zyx[2];
}

void VolumeWork::locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const {
  const Sample& sample = samples_[s];
  const auto locate = [&](const std::vector<Slab>& slabs, std::size_t place, std::size_t bytes) {
    for (const Slab& slab : slabs) {
      destinations[slab.read] =
          place + static_cast<std::uint64_t>(first_voxel(sample, slab)) * bytes;
    }
  };
  locate(sample.image_slabs, sample.image_place, sizeof(std::int16_t));
  locate(sample.label_slabs, sample.label_place, sizeof(std::uint8_t));
}

template <typename T>
transform::VolumeView<T> VolumeWork::view(const Sample& sample, const std::byte* memory) {
  const Box3& window = sample.geometry.window;
  transform::VolumeView<T> view{
      reinterpret_cast<const T*>(memory), {}, sample.row, slice_voxels(window, sample.row)};
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.shape_zyx[axis] = static_cast<std::int32_t>(window.size_zyx[axis]);
  return view;
}

/// Decodes a window into the worker's own memory.
template <typename T>
transform::VolumeView<T> VolumeWork::decoded(const Sample& sample, const std::vector<Slab>& slabs,
                                             device::HostBuffer& memory) {
  std::byte* bytes = grown(memory, window_voxels(sample) * std::int64_t{sizeof(T)});
  decode<T>(sample, slabs, bytes);
  return view<T>(sample, bytes);
}

void VolumeWork::lay_out(std::size_t s) {
  Sample& sample = samples_[s];
  sample.image_place = place(window_voxels(sample) * std::int64_t{sizeof(std::int16_t)});
  if (sample.has_label) sample.label_place = place(window_voxels(sample));
}

void VolumeWork::fill(std::size_t s) {
  const Sample& sample = samples_[s];
  decode<std::int16_t>(sample, sample.image_slabs, arena() + sample.image_place);
  if (sample.has_label)
    decode<std::uint8_t>(sample, sample.label_slabs, arena() + sample.label_place);
}

void VolumeWork::make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                      StageTimes& times) {
  const Sample& sample = samples_[s];
  const auto image = decoded<std::int16_t>(sample, sample.image_slabs, worker.window);
  transform::VolumeView<std::uint8_t> label;
  const bool with_label = labels != nullptr && sample.has_label;
  if (with_label) label = decoded<std::uint8_t>(sample, sample.label_slabs, worker.label_window);
  const std::int64_t start = now_ns();
  float* values = planes(images, 1, worker);
  recipe_.volume.run(*sample.params, sample.geometry, image, label, sample.extent, kIgnoreLabel,
                     values, with_label ? labels : nullptr, worker.volume_scratch);
  store(values, 1, images);
  if (labels != nullptr && !with_label) std::memset(labels, kIgnoreLabel, recipe_.label_bytes());
  times.transform_ns += now_ns() - start;
}

std::vector<transform::VolumePatch> VolumeWork::patches(const std::byte* windows) const {
  std::vector<transform::VolumePatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    const Sample& sample = samples_[s];
    transform::VolumePatch& patch = patches.emplace_back();
    patch.params = sample.params.get();
    patch.geometry = &sample.geometry;
    patch.image = view<std::int16_t>(sample, windows + sample.image_place);
    if (sample.has_label) patch.labels = view<std::uint8_t>(sample, windows + sample.label_place);
    patch.extent = sample.extent;
  }
  return patches;
}

void VolumeWork::launch(const DeviceTarget& target) const {
  transform::VolumeCudaGraph{recipe_.volume}.run(
      patches(target.windows), kIgnoreLabel, recipe_.format.element, target.images, target.labels,
      target.volume_scratch, target.stream);
}

}  // namespace headrace::loader::detail
