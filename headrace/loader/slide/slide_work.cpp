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

std::int64_t area(const Box2& box) { return box.height * box.width; }

Box2 around(const Box2& a, const Box2& b) {
  const std::int64_t y = std::min(a.y0, b.y0), x = std::min(a.x0, b.x0);
  return {y, x, std::max(a.y0 + a.height, b.y0 + b.height) - y,
          std::max(a.x0 + a.width, b.x0 + b.width) - x};
}

/// Adds the columns that a patch touches to those of the window around it.
void widen(std::vector<zarr::RowSpan>& spans, const Box2& box,
           const transform::PatchGeometry& geometry) {
  const Box2& own = geometry.window;
  const auto right = static_cast<std::int32_t>(own.x0 - box.x0);
  for (std::int64_t row = 0; row < own.height; ++row) {
    auto [begin, end] = geometry.row_spans[static_cast<std::size_t>(row)];
    if (begin >= end) continue;
    begin += right;
    end += right;
    auto& span = spans[static_cast<std::size_t>(own.y0 - box.y0 + row)];
    const bool none = span.begin >= span.end;
    span = {none ? begin : std::min(span.begin, begin), none ? end : std::max(span.end, end)};
  }
}

Box2 extent_of(const Box2& box, const cohort::ImageLevel& level) {
  const auto [y, height] = part_inside(box.y0, box.height, level.height);
  const auto [x, width] = part_inside(box.x0, box.width, level.width);
  return {y, x, height, width};
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
  share_windows(s);
  const Patch& first = sample.views[0][0];
  sample.label.array = labels_of(site.image, first.level);
  sample.has_label = sample.label.array != nullptr;
  if (!sample.has_label) return;
  sample.label.box = first.geometry.window;
  sample.label.spans.assign(static_cast<std::size_t>(sample.label.box.height), {});
  widen(sample.label.spans, sample.label.box, first.geometry);
  place(sample.label, loader_plan_.cohort->images()[site.image].levels[first.level], 1);
}

void SlideWork::plan_patch(std::size_t s, const ViewPlan& view, int context, Patch& patch) {
  const LoaderConfig& config = loader_plan_.config;
  const SampleSite& site = sites_[s];
  const cohort::ImageRecord& image = loader_plan_.cohort->images()[site.image];
  patch.level = choose_level(image, view.graph.patch().mpp * context, config);
  const cohort::ImageLevel& level = image.levels[patch.level];
  view.graph.locate(*patch.params, context,
                    {site.centre_level0_yx[0] / level.downsample_yx[0],
                     site.centre_level0_yx[1] / level.downsample_yx[1]},
                    level_mpp_yx(image, patch.level, config), patch.geometry);
  patch.extent = extent_of(patch.geometry.window, level);
}

void SlideWork::share_windows(std::size_t s) {
  Sample& sample = samples_[s];
  const std::uint32_t image = sites_[s].image;
  const auto& levels = loader_plan_.cohort->images()[image].levels;
  std::size_t count = 0;
  for (auto& patches : sample.views) {
    for (Patch& patch : patches) {
      const Box2& own = patch.geometry.window;
      const auto shares = [&](const Window& window) {
        return window.level == patch.level &&
               area(around(window.box, own)) <= area(window.box) + area(own);
      };
      const auto end = sample.windows.begin() + static_cast<std::ptrdiff_t>(count);
      const auto found = std::find_if(sample.windows.begin(), end, shares);
      patch.window = static_cast<std::size_t>(found - sample.windows.begin());
      if (found != end) {
        found->box = around(found->box, own);
        continue;
      }
      sample.windows.resize(std::max(sample.windows.size(), ++count));
      Window& window = sample.windows[patch.window];
      window.box = own;
      window.level = patch.level;
      window.array = loader_plan_.cohort->image_array(image, patch.level);
    }
  }
  sample.windows.resize(count);
  for (Window& window : sample.windows)
    window.spans.assign(static_cast<std::size_t>(window.box.height), {});
  for (const auto& patches : sample.views) {
    for (const Patch& patch : patches) {
      Window& window = sample.windows[patch.window];
      widen(window.spans, window.box, patch.geometry);
    }
  }
  for (Window& window : sample.windows) place(window, levels[window.level], 3);
}

/// Finds the part of a window that the level has, and the place of its rows.
void SlideWork::place(Window& window, const cohort::ImageLevel& level, std::int64_t channels) {
  window.row_bytes = round_up(window.box.width * channels, 64);
  window.extent = extent_of(window.box, level);
  const auto [y, x, height, width] = window.extent;
  for (std::int64_t row = 0; row < height; ++row) {
    const auto in_extent = [x = x, width = width](std::int32_t column) {
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(column - x, 0, width));
    };
    const zarr::RowSpan span = window.spans[static_cast<std::size_t>(y + row)];
    window.spans[static_cast<std::size_t>(row)] = {in_extent(span.begin), in_extent(span.end)};
  }
  window.spans.resize(static_cast<std::size_t>(height));
}

void SlideWork::add_reads(std::size_t s) {
  for (Window& window : samples_[s].windows) add_read(window, 3);
  if (samples_[s].has_label) add_read(samples_[s].label, 1);
}

/// Reads the part of the window that the level has; the rest is never used.
void SlideWork::add_read(Window& window, std::int64_t channels) {
  const Box2& box = window.box;
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
    window.place = BatchWork::place(window.row_bytes * window.box.height);
  };
  for (Window& window : samples_[s].windows) take(window);
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
  for (const Window& window : samples_[s].windows) locate(window, 3);
  if (samples_[s].has_label) locate(samples_[s].label, 1);
}

transform::ImageView SlideWork::view(const Patch& patch, const Window& window,
                                     std::int64_t channels, const std::byte* memory) {
  const Box2& own = patch.geometry.window;
  const std::int64_t first =
      (own.y0 - window.box.y0) * window.row_bytes + (own.x0 - window.box.x0) * channels;
  return {reinterpret_cast<const std::uint8_t*>(memory) + first,
          static_cast<std::int32_t>(own.height), static_cast<std::int32_t>(own.width),
          window.row_bytes};
}

void SlideWork::fill(std::size_t s) {
  const Sample& sample = samples_[s];
  for (const Window& window : sample.windows) decode(window, 3, arena() + window.place);
  if (sample.has_label) decode(sample.label, 1, arena() + sample.label.place);
}

void SlideWork::make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                     StageTimes& times) {
  const Sample& sample = samples_[s];
  // One window at a time, so that it stays in the cache.
  for (std::size_t w = 0; w < sample.windows.size(); ++w) {
    const Window& window = sample.windows[w];
    std::byte* const memory = grown(worker.window, window.row_bytes * window.box.height);
    decode(window, 3, memory);
    const std::int64_t start = now_ns();
    for (std::size_t v = 0; v < sample.views.size(); ++v) {
      const ViewPlan& plan = loader_plan_.views[v];
      const std::size_t bytes = loader_plan_.view_bytes(plan);
      const std::size_t one = bytes / sample.views[v].size();
      std::byte* out = images + loader_plan_.view_at(plan) + s * bytes;
      for (const Patch& patch : sample.views[v]) {
        std::byte* const place = std::exchange(out, out + one);
        if (patch.window != w) continue;
        float* values = planes(place, 3, plan.pixels(), worker);
        plan.graph.image(*patch.params, patch.geometry, view(patch, window, 3, memory),
                         patch.extent, values, worker.scratch);
        store(values, 3, plan.pixels(), place);
      }
    }
    times.transform_ns += now_ns() - start;
  }
  if (labels == nullptr) return;
  if (!sample.has_label) {
    std::memset(labels, kIgnoreLabel, loader_plan_.label_bytes());
    return;
  }
  const Window& window = sample.label;
  const Patch& first = sample.views[0][0];
  std::byte* const memory = grown(worker.window, window.row_bytes * window.box.height);
  decode(window, 1, memory);
  const std::int64_t start = now_ns();
  loader_plan_.views[0].graph.labels(*first.params, first.geometry, view(first, window, 1, memory),
                                     first.extent, kIgnoreLabel, labels, worker.scratch);
  times.transform_ns += now_ns() - start;
}

std::vector<transform::CudaPatch> SlideWork::image_patches(std::size_t view_number,
                                                           const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    for (const Patch& patch : samples_[s].views[view_number]) {
      const Window& window = samples_[s].windows[patch.window];
      patches.push_back({patch.params.get(), &patch.geometry,
                         view(patch, window, 3, windows + window.place), patch.extent});
    }
  }
  return patches;
}

std::vector<transform::CudaPatch> SlideWork::label_patches(const std::byte* windows) const {
  std::vector<transform::CudaPatch> patches;
  for (std::size_t s = 0; s < planned(); ++s) {
    const Sample& sample = samples_[s];
    const Patch& first = sample.views[0][0];
    const Window& window = sample.has_label ? sample.label : sample.windows[first.window];
    patches.push_back({first.params.get(), &first.geometry,
                       view(first, window, sample.has_label ? 1 : 3, windows + window.place),
                       sample.has_label ? first.extent : Box2{}});
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
