#include "headrace/loader/volume/volume_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

std::int64_t slice_voxels(const Box3& window, std::int64_t row) { return row * window.size_zyx[1]; }

}  // namespace

void VolumeWork::plan_sample(std::size_t s, const transform::SampleKey& key) {
  Sample& sample = samples_[s];
  const LoaderConfig& config = loader_plan_.config;
  const SampleSite& site = sites_[s];
  const cohort::ImageRecord& image = loader_plan_.cohort->images()[site.image];
  const std::size_t k = choose_volume_level(image, config);
  const cohort::VolumeLevel& level = image.volume->levels[k];
  plan_channels(sample, image, site.image, k, key);
  const transform::VolumeParams& params = *sample.channels[sample.first].params;
  loader_plan_.volume_channels[sample.first].graph.locate(
      params,
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
  sample.label = labels_of(site.image, k);
  sample.has_label = sample.label != nullptr;
  for (Channel& channel : sample.channels) channel.slabs.clear();
  sample.label_slabs.clear();
  if (sample.empty) return;
  const transform::VolumeReach reach(params, config.volume_patch, sample.geometry, sample.extent);
  for (Channel& channel : sample.channels) {
    if (channel.stored) cut(sample, reach, *channel.image, channel.slabs);
  }
  if (sample.has_label) cut(sample, reach, *sample.label, sample.label_slabs);
}

void VolumeWork::plan_channels(Sample& sample, const cohort::ImageRecord& image, std::size_t number,
                               std::size_t level, const transform::SampleKey& key) {
  const auto& loader_plans = loader_plan_.volume_channels;
  const auto& known = image.volume->channels;
  sample.channels.resize(loader_plans.size());
  sample.first = loader_plans.size();
  for (std::size_t c = 0; c < loader_plans.size(); ++c) {
    Channel& channel = sample.channels[c];
    const std::size_t stored = loader_plans[c].stored;
    channel.stored = known.empty() || known[stored].stored;
    if (!channel.stored) continue;
    const IntensityStats& body = known.empty() ? image.volume->body : known[stored].body;
    channel.params = loader_plans[c].graph.draw(key, body, loader_plan_.plan->random());
    channel.image = loader_plan_.cohort->image_array(number, level, stored);
    sample.first = std::min(sample.first, c);
  }
  if (sample.first < loader_plans.size()) return;
  fail(ErrorCode::usage,
       "image '{}' lacks every channel that the run reads; take it out of its split, or read its "
       "other channels (data.channels)",
       image.id);
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
  for (Channel& channel : sample.channels)
    add_slabs(sample, channel.image, sizeof(std::int16_t), channel.slabs);
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
  for (const Channel& channel : sample.channels)
    locate(channel.slabs, channel.place, sizeof(std::int16_t));
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
  for (Channel& channel : sample.channels)
    channel.place = place(window_voxels(sample) * std::int64_t{sizeof(std::int16_t)});
  if (sample.has_label) sample.label_place = place(window_voxels(sample));
}

void VolumeWork::fill(std::size_t s) {
  const Sample& sample = samples_[s];
  for (const Channel& channel : sample.channels)
    decode<std::int16_t>(sample, channel.slabs, arena() + channel.place);
  if (sample.has_label)
    decode<std::uint8_t>(sample, sample.label_slabs, arena() + sample.label_place);
}

void VolumeWork::make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                      StageTimes& times) {
  const Sample& sample = samples_[s];
  const bool with_label = labels != nullptr && sample.has_label;
  images += s * loader_plan_.image_bytes();
  float* const values = planes(images, loader_plan_.channels, loader_plan_.plane(), worker);
  for (std::size_t c = 0; c < sample.channels.size(); ++c) {
    const Channel& channel = sample.channels[c];
    float* const plane = values + static_cast<std::int64_t>(c) * loader_plan_.plane();
    if (!channel.stored) {
      std::fill_n(plane, loader_plan_.plane(), 0.0f);
      continue;
    }
    const auto image = decoded<std::int16_t>(sample, channel.slabs, worker.window);
    transform::VolumeView<std::uint8_t> label;
    const bool labelled = with_label && c == sample.first;
    if (labelled) label = decoded<std::uint8_t>(sample, sample.label_slabs, worker.label_window);
    const std::int64_t start = now_ns();
    loader_plan_.volume_channels[c].graph.run(*channel.params, sample.geometry, image, label,
                                              sample.extent, kIgnoreLabel, plane,
                                              labelled ? labels : nullptr, worker.volume_scratch);
    times.transform_ns += now_ns() - start;
  }
  const std::int64_t start = now_ns();
  store(values, loader_plan_.channels, loader_plan_.plane(), images);
  if (labels != nullptr && !with_label)
    std::memset(labels, kIgnoreLabel, loader_plan_.label_bytes());
  times.transform_ns += now_ns() - start;
}

std::vector<transform::VolumePatch> VolumeWork::patches(const std::byte* windows) const {
  std::vector<transform::VolumePatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    const Sample& sample = samples_[s];
    transform::VolumePatch& patch = patches.emplace_back();
    // Recipes for a GPU have one channel.
    const Channel& channel = sample.channels.front();
    patch.params = channel.params.get();
    patch.geometry = &sample.geometry;
    patch.image = view<std::int16_t>(sample, windows + channel.place);
    if (sample.has_label) patch.labels = view<std::uint8_t>(sample, windows + sample.label_place);
    patch.extent = sample.extent;
  }
  return patches;
}

void VolumeWork::launch(const DeviceTarget& target) const {
  transform::VolumeCudaGraph{loader_plan_.volume_channels.front().graph}.run(
      patches(target.windows), kIgnoreLabel, loader_plan_.format.element, target.images,
      target.labels, target.volume_scratch, target.stream);
}

}  // namespace headrace::loader::detail
