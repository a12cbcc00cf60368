#include "headrace/loader/slide/slide_work.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "headrace/core/rounding.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

/// Patches of one place draw from seeds of their own; the first one's is the run's.
transform::SampleKey key_of_crop(transform::SampleKey key, std::uint64_t crop) {
  key.seed += crop * 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio
  return key;
}

}  // namespace

void SlideWork::plan_sample(std::size_t s, const transform::SampleKey& key) {
  Sample& sample = samples_[s];
  const SampleSite& site = sites_[s];
  const bool random = loader_plan_.plan->random();
  sample.views.resize(loader_plan_.views.size());
  for (std::size_t v = 0; v < sample.views.size(); ++v) {
    const ViewPlan& view = loader_plan_.views[v];
    const auto& contexts = view.graph.patch().context;
    auto& patches = sample.views[v];
    patches.resize(static_cast<std::size_t>(view.crops));
    for (std::size_t p = 0; p < patches.size(); ++p) {
      const bool concentric = contexts.size() > 1 && p > 0;
      patches[p].params = concentric ? patches[0].params
                                     : view.graph.draw(key_of_crop(key, view.first_crop + p),
                                                       loader_plan_.colours[site.image], random);
      plan_patch(s, view, contexts.size() > 1 ? contexts[p] : 1, patches[p]);
    }
  }
  const Window& first = sample.views[0][0].window;
  sample.label.array = labels_of(site.image, first.level);
  sample.has_label = sample.label.array != nullptr;
  if (!sample.has_label) return;
  sample.label.geometry = first.geometry;
  place(sample.label, loader_plan_.cohort->images()[site.image].levels[first.level], 1);
}

void SlideWork::plan_patch(std::size_t s, const ViewPlan& view, int context, Patch& patch) {
  const LoaderConfig& config = loader_plan_.config;
  const SampleSite& site = sites_[s];
  const cohort::ImageRecord& image = loader_plan_.cohort->images()[site.image];
  Window& window = patch.window;
  window.level = choose_level(image, view.graph.patch().mpp * context, config);
  const cohort::ImageLevel& level = image.levels[window.level];
  view.graph.locate(*patch.params, context,
                    {site.centre_level0_yx[0] / level.downsample_yx[0],
                     site.centre_level0_yx[1] / level.downsample_yx[1]},
                    level_mpp_yx(image, window.level, config), window.geometry);
  window.array = loader_plan_.cohort->image_array(site.image, window.level);
  place(window, level, 3);
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
  for (auto& patches : samples_[s].views) {
    for (Patch& patch : patches) add_read(patch.window, 3);
  }
  if (samples_[s].has_label) add_read(samples_[s].label, 1);
}

/// Calls visit(window, channels) with all windows of a sample.
template <typename Visit>
void SlideWork::each_window(const Sample& sample, const Visit& visit) const {
  for (const auto& patches : sample.views) {
    for (const Patch& patch : patches) visit(patch.window, 3);
  }
  if (sample.has_label) visit(sample.label, 1);
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
  for (auto& patches : samples_[s].views) {
    for (Patch& patch : patches) take(patch.window);
  }
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
  each_window(samples_[s], [&](const Window& window, std::int64_t channels) {
    if (window.empty) return;
    destinations[window.read] =
        window.place + static_cast<std::uint64_t>(first_byte(window, channels));
  });
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
  each_window(samples_[s], [&](const Window& window, std::int64_t channels) {
    decode(window, channels, arena() + window.place);
  });
}

void SlideWork::make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                     StageTimes& times) {
  const Sample& sample = samples_[s];
  for (std::size_t v = 0; v < sample.views.size(); ++v) {
    const ViewPlan& plan = loader_plan_.views[v];
    const std::size_t bytes = loader_plan_.view_bytes(plan);
    std::byte* out = images + loader_plan_.view_at(plan) + s * bytes;
    for (const auto& [params, window] : sample.views[v]) {
      const transform::ImageView view = decoded(window, 3, worker);
      const std::int64_t start = now_ns();
      float* values = planes(out, 3, plan.pixels(), worker);
      plan.graph.image(*params, window.geometry, view, window.extent, values, worker.scratch);
      store(values, 3, plan.pixels(), out);
      times.transform_ns += now_ns() - start;
      out += bytes / sample.views[v].size();
    }
  }
  if (labels == nullptr) return;
  if (!sample.has_label) {
    std::memset(labels, kIgnoreLabel, loader_plan_.label_bytes());
    return;
  }
  const transform::ImageView view = decoded(sample.label, 1, worker);
  const std::int64_t start = now_ns();
  loader_plan_.views[0].graph.labels(*sample.views[0][0].params, sample.label.geometry, view,
                                     sample.label.extent, kIgnoreLabel, labels, worker.scratch);
  times.transform_ns += now_ns() - start;
}

std::vector<transform::CudaPatch> SlideWork::image_patches(std::size_t view,
                                                           const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    for (const auto& [params, w] : samples_[s].views[view]) {
      patches.push_back(
          {params.get(), &w.geometry, SlideWork::view(w, windows + w.place), w.extent});
    }
  }
  return patches;
}

std::vector<transform::CudaPatch> SlideWork::label_patches(const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    const Sample& sample = samples_[s];
    const Patch& first = sample.views[0][0];
    const Window& w = sample.has_label ? sample.label : first.window;
    patches.push_back({first.params.get(), &w.geometry, view(w, windows + w.place),
                       sample.has_label ? w.extent : Box2{}});
  }
  return patches;
}

void SlideWork::launch(const DeviceTarget& target) const {
  for (std::size_t v = 0; v < loader_plan_.views.size(); ++v) {
    const ViewPlan& view = loader_plan_.views[v];
    const transform::CudaGraph graph{view.graph};
    graph.images(image_patches(v, target.windows), loader_plan_.format,
                 target.images + loader_plan_.view_at(view), target.scratch, target.stream);
  }
  if (target.labels == nullptr) return;
  const transform::CudaGraph graph{loader_plan_.views[0].graph};
  graph.labels(label_patches(target.windows), kIgnoreLabel, target.labels, target.scratch,
               target.stream);
}

}  // namespace headrace::loader::detail
