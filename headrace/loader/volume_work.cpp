#include "headrace/loader/volume_work.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"
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
  sample.row = (window.size_zyx[2] + 31) / 32 * 32;
  sample.image = recipe_.cohort->image_array(site.image, k);
  sample.has_label = has_labels(image);
  if (sample.has_label)
    sample.label = recipe_.cohort->label_array(site.image, config.data.labels, k);
}

std::size_t VolumeWork::add_read(const Sample& sample,
                                 const std::shared_ptr<const zarr::Array>& array,
                                 std::int64_t voxel_bytes) {
  const Box3& window = sample.geometry.window;
  zarr::RegionRead region;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    region.origin.push_back(window.origin_zyx[axis] + sample.extent.origin_zyx[axis]);
    region.shape.push_back(sample.extent.size_zyx[axis]);
  }
  region.strides_bytes = {slice_voxels(window, sample.row) * voxel_bytes, sample.row * voxel_bytes,
                          voxel_bytes};
  return read_.add(array, std::move(region));
}

void VolumeWork::add_reads(std::size_t s) {
  Sample& sample = samples_[s];
  if (sample.empty) return;
  sample.image_read = add_read(sample, sample.image, sizeof(std::int16_t));
  if (sample.has_label) sample.label_read = add_read(sample, sample.label, sizeof(std::uint8_t));
}

/// Decodes a window into the worker's own memory.
template <typename T>
transform::VolumeView<T> VolumeWork::decode(const Sample& sample, std::size_t read,
                                            device::HostBuffer& memory) {
  const Box3& window = sample.geometry.window;
  const Box3& extent = sample.extent;
  const std::int64_t slice = slice_voxels(window, sample.row);
  T* voxels =
      reinterpret_cast<T*>(grown(memory, slice * window.size_zyx[0] * std::int64_t{sizeof(T)}));
  if (!sample.empty) {
    T* first = voxels + extent.origin_zyx[0] * slice + extent.origin_zyx[1] * sample.row +
               extent.origin_zyx[2];
    read_.decode(read, reinterpret_cast<std::byte*>(first));
  }
  transform::VolumeView<T> view{voxels, {}, sample.row, slice};
  for (std::size_t axis = 0; axis < 3; ++axis)
    view.shape_zyx[axis] = static_cast<std::int32_t>(window.size_zyx[axis]);
  return view;
}

void VolumeWork::make(std::size_t s, float* images, std::uint8_t* labels, Worker& worker,
                      StageTimes& times) {
  const Sample& sample = samples_[s];
  const auto image = decode<std::int16_t>(sample, sample.image_read, worker.window);
  transform::VolumeView<std::uint8_t> label;
  const bool with_label = labels != nullptr && sample.has_label;
  if (with_label) label = decode<std::uint8_t>(sample, sample.label_read, worker.label_window);
  const std::int64_t start = now_ns();
  recipe_.volume.run(*sample.params, sample.geometry, image, label, sample.extent, kIgnoreLabel,
                     images, with_label ? labels : nullptr, worker.volume_scratch);
  if (labels != nullptr && !with_label) std::memset(labels, kIgnoreLabel, recipe_.label_bytes());
  times.transform_ns += now_ns() - start;
}

}  // namespace headrace::loader::detail
