#include "headrace/loader/slide/slide_work.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/core/rounding.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {
void SlideWork::plan_sample(std::size_t s, const transform::SampleKey& key) {
  Sample& sample = samples_[s];
  const LoaderConfig& config = loader_plan_.config;
  const SampleSite& site = sites_[s];
  const cohort::ImageRecord& image = loader_plan_.cohort->images()[site.image];
  sample.params =
      loader_plan_.graph.draw(key, loader_plan_.colours[site.image], loader_plan_.plan->random());
  sample.contexts.resize(config.patch.context.size());
  sample.has_label = false;
  for (std::size_t c = 0; c < sample.contexts.size(); ++c) {
    const int context = config.patch.context[c];
    const std::size_t k = choose_level(image, context, config);
    const cohort::ImageLevel& level = image.levels[k];
    Window& window = sample.contexts[c];
    loader_plan_.graph.locate(*sample.params, context,
                              {site.centre_level0_yx[0] / level.downsample_yx[0],
                               site.centre_level0_yx[1] / level.downsample_yx[1]},
                              level_mpp_yx(image, k, config), window.geometry);
    window.array = loader_plan_.cohort->image_array(site.image, k);
    place(window, level, 3);
    if (c > 0) continue;
    sample.label.array = labels_of(site.image, k);
    sample.has_label = sample.label.array != nullptr;
    if (!sample.has_label) continue;
    sample.label.geometry = window.geometry;
    place(sample.label, level, 1);
  }
}

/// Finds the part of a window that the level has, and the place of its rows.
void SlideWork::place(Window& window, const cohort::ImageLevel& level, std::int64_t channels) {
  const Box2& box = window.geometry.window;
  window.row_bytes = round_up(box.width * channels, 64);
  const auto [y, height] = part_inside(box.y0, box.height, level.height);
  const auto [x, width] = part_inside(box.x0, box.width, level.width);
  window.extent = {y, x, height, width};
  window.spans.clear();
  for (std::int64_t row = y; row < y + height; ++row) {
    const auto [begin, end] = window.geometry.row_spans[static_cast<std::size_t>(row)];
    const auto in_extent = [x = x, width = width](std::int32_t column) {
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(column - x, 0, width));
    };
    window.spans.push_back({in_extent(begin), in_extent(end)});
  }
}

void SlideWork::add_reads(std::size_t s) {
  for (Window& window : samples_[s].contexts) add_read(window, 3);
  if (samples_[s].has_label) add_read(samples_[s].label, 1);
}

/// Reads the part of the window that the level has; the rest is never used.
void SlideWork::add_read(Window& window, std::int64_t channels) {
  const Box2& box = window.geometry.window;
  const Box2& extent = window.extent;
  window.empty = extent.height == 0 || extent.width == 0;
  if (window.empty) return;
  zarr::RegionRead region;
  region.origin = {box.y0 + extent.y0, box.x0 + extent.x0};
  region.shape = {extent.height, extent.width};
  region.strides_bytes = {window.row_bytes, channels};
  if (channels == 3) {
    region.origin.insert(region.origin.begin(), 0);
    region.shape.insert(region.shape.begin(), 3);
    region.strides_bytes.insert(region.strides_bytes.begin(), 1);
  }
  region.row_spans = window.spans;
  window.read = add_region(window.array, std::move(region));
}

void SlideWork::lay_out(std::size_t s) {
  const auto take = [&](Window& window) {
    window.place = BatchWork::place(window.row_bytes * window.geometry.window.height);
  };
  for (Window& window : samples_[s].contexts) take(window);
  if (samples_[s].has_label) take(samples_[s].label);
}

void SlideWork::decode(const Window& window, std::int64_t channels, std::byte* memory) {
  if (window.empty) return;
  read_.decode(window.read, memory + first_byte(window, channels));
}

std::int64_t SlideWork::first_byte(const Window& window, std::int64_t channels) {
  return window.extent.y0 * window.row_bytes + window.extent.x0 * channels;
}

void SlideWork::locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const {
  const auto locate = [&](const Window& window, std::int64_t channels) {
    if (window.empty) return;
    destinations[window.read] =
        window.place + static_cast<std::uint64_t>(first_byte(window, channels));
  };
  for (const Window& window : samples_[s].contexts) locate(window, 3);
  if (samples_[s].has_label) locate(samples_[s].label, 1);
}

transform::ImageView SlideWork::view(const Window& window, const std::byte* memory) {
  const Box2& box = window.geometry.window;
  return {reinterpret_cast<const std::uint8_t*>(memory), static_cast<std::int32_t>(box.height),
          static_cast<std::int32_t>(box.width), window.row_bytes};
}

/// Decodes a window into the worker's own memory.
transform::ImageView SlideWork::decoded(const Window& window, std::int64_t channels,
                                        Worker& worker) {
  std::byte* memory = grown(worker.window, window.row_bytes * window.geometry.window.height);
  decode(window, channels, memory);
  return view(window, memory);
}

void SlideWork::fill(std::size_t s) {
  const Sample& sample = samples_[s];
  for (const Window& window : sample.contexts) decode(window, 3, arena() + window.place);
  if (sample.has_label) decode(sample.label, 1, arena() + sample.label.place);
}

void SlideWork::make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                     StageTimes& times) {
  const Sample& sample = samples_[s];
  for (const Window& window : sample.contexts) {
    const transform::ImageView view = decoded(window, 3, worker);
    const std::int64_t start = now_ns();
    float* values = planes(images, 3, worker);
    loader_plan_.graph.image(*sample.params, window.geometry, view, window.extent, values,
                             worker.scratch);
    store(values, 3, images);
    times.transform_ns += now_ns() - start;
    images += loader_plan_.image_bytes() / sample.contexts.size();
  }
  if (labels == nullptr) return;
  if (!sample.has_label) {
    std::memset(labels, kIgnoreLabel, loader_plan_.label_bytes());
    return;
  }
  const transform::ImageView view = decoded(sample.label, 1, worker);
  const std::int64_t start = now_ns();
  loader_plan_.graph.labels(*sample.params, sample.label.geometry, view, sample.label.extent,
                            kIgnoreLabel, labels, worker.scratch);
  times.transform_ns += now_ns() - start;
}

std::vector<transform::CudaPatch> SlideWork::image_patches(const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    for (const Window& w : samples_[s].contexts) {
      patches.push_back(
          {samples_[s].params.get(), &w.geometry, view(w, windows + w.place), w.extent});
    }
  }
  return patches;
}

std::vector<transform::CudaPatch> SlideWork::label_patches(const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    const Sample& sample = samples_[s];
    const Window& w = sample.has_label ? sample.label : sample.contexts.front();
    patches.push_back({sample.params.get(), &w.geometry, view(w, windows + w.place),
                       sample.has_label ? w.extent : Box2{}});
  }
  return patches;
}

void SlideWork::launch(const DeviceTarget& target) const {
  const transform::CudaGraph graph{loader_plan_.graph};
  graph.images(image_patches(target.windows), loader_plan_.format, target.images, target.scratch,
               target.stream);
  if (target.labels == nullptr) return;
  graph.labels(label_patches(target.windows), kIgnoreLabel, target.labels, target.scratch,
               target.stream);
}

}  // namespace headrace::loader::detail
