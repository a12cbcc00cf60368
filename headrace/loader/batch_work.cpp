#include "headrace/loader/batch_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/loader/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

constexpr std::uint8_t kIgnore = 255;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

std::size_t Recipe::image_bytes() const {
  const auto& patch = config.patch;
  return patch.context.size() * 3 * sizeof(float) * static_cast<std::size_t>(patch.height) *
         static_cast<std::size_t>(patch.width);
}
std::size_t Recipe::label_bytes() const {
  if (!with_labels) return 0;
  return static_cast<std::size_t>(config.patch.height) *
         static_cast<std::size_t>(config.patch.width);
}
std::size_t Recipe::batch_bytes() const {
  return static_cast<std::size_t>(batch) * (image_bytes() + label_bytes());
}

std::string BatchWork::where(std::size_t s) const {
  return fmt::format("epoch {}, batch {}, sample {} (image {})", epoch_, index_, s,
                     recipe_.cohort->images()[samples_[s].site.image].id);
}

void BatchWork::prepare(std::uint64_t epoch, std::uint64_t index, device::BufferPool& pool,
                        Worker& worker) {
  const std::int64_t start = now_ns();
  epoch_ = epoch;
  index_ = index;
  plan_error_ = nullptr;
  planned_ = 0;
  read_.clear();
  const std::uint64_t first = index * static_cast<std::uint64_t>(recipe_.batch);
  count_ = static_cast<std::size_t>(std::min<std::uint64_t>(
      static_cast<std::uint64_t>(recipe_.batch), recipe_.plan->samples_per_epoch() - first));
  samples_.resize(static_cast<std::size_t>(recipe_.batch));
  output_ = pool.take(recipe_.batch_bytes());
  for (std::size_t s = 0; s < count_; ++s) {
    try {
      samples_[s].site = recipe_.plan->site(epoch, first + s);
      with_context(where(s), [&] { plan_sample(samples_[s], epoch, first + s); });
    } catch (...) {
      plan_error_ = std::current_exception();
      break;
    }
    ++planned_;
  }
  for (std::size_t s = 0; s < planned_; ++s) {
    for (Window& window : samples_[s].contexts) add_read(window, 3);
    if (samples_[s].has_label) add_read(samples_[s].label, 1);
  }
  plan_ns_ = now_ns() - start;
  read_.fetch(worker.inline_pool);
}

void BatchWork::plan_sample(Sample& sample, std::uint64_t epoch, std::uint64_t index) {
  const RunConfig& config = recipe_.config;
  const SampleSite& site = sample.site;
  const source::ImageRecord& image = recipe_.cohort->images()[site.image];
  sample.params = recipe_.graph.draw({config.sampling.seed, epoch, index}, image.colour,
                                     recipe_.plan->random());
  sample.contexts.resize(config.patch.context.size());
  sample.has_label = recipe_.with_labels && std::find(image.labels.begin(), image.labels.end(),
                                                      config.data.labels) != image.labels.end();
  for (std::size_t c = 0; c < sample.contexts.size(); ++c) {
    const int context = config.patch.context[c];
    const std::size_t k = choose_level(image, context, config);
    const source::ImageLevel& level = image.levels[k];
    Window& window = sample.contexts[c];
    recipe_.graph.locate(*sample.params, context,
                         {site.centre_level0_yx[0] / level.downsample_yx[0],
                          site.centre_level0_yx[1] / level.downsample_yx[1]},
                         level_mpp_yx(image, k, config), window.geometry);
    window.array = recipe_.cohort->image_array(site.image, k);
    place(window, level, 3);
    if (c == 0 && sample.has_label) {
      sample.label.geometry = window.geometry;
      sample.label.array = recipe_.cohort->label_array(site.image, config.data.labels, k);
      place(sample.label, level, 1);
    }
  }
}

/// Finds what the level has of a window, and where its rows lie.
void BatchWork::place(Window& window, const source::ImageLevel& level, std::int64_t channels) {
  const Box2& box = window.geometry.window;
  window.row_bytes = round_up(box.width * channels, 64);
  const auto part = [](std::int64_t origin, std::int64_t size, std::int64_t extent) {
    const std::int64_t begin = std::clamp<std::int64_t>(-origin, 0, size);
    return std::array{begin, std::clamp<std::int64_t>(extent - origin, begin, size) - begin};
  };
  const auto [y, height] = part(box.y0, box.height, level.height);
  const auto [x, width] = part(box.x0, box.width, level.width);
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

/// Reads what the level has of the window; the rest is never looked at.
void BatchWork::add_read(Window& window, std::int64_t channels) {
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
  window.read = read_.add(window.array, std::move(region));
}

/// Decodes a window into the worker's own memory.
transform::ImageView BatchWork::decode(const Window& window, std::int64_t channels,
                                       Worker& worker) {
  const Box2& box = window.geometry.window;
  const auto bytes = static_cast<std::size_t>(window.row_bytes * box.height);
  // Grown by half as much again, or every slightly larger window would be fresh pages.
  if (bytes > worker.window.size()) worker.window.reserve(bytes + bytes / 2);
  if (!window.empty) {
    read_.decode(window.read, worker.window.data() + window.extent.y0 * window.row_bytes +
                                  window.extent.x0 * channels);
  }
  return {worker.window.as<std::uint8_t>(), static_cast<std::int32_t>(box.height),
          static_cast<std::int32_t>(box.width), window.row_bytes};
}

void BatchWork::make_sample(std::size_t s, Worker& worker, StageTimes& times) {
  const Sample& sample = samples_[s];
  const auto& patch = recipe_.config.patch;
  const std::int64_t plane = std::int64_t{patch.height} * patch.width;
  float* images = output_->as<float>() + s * recipe_.image_bytes() / sizeof(float);
  with_context(where(s), [&] {
    for (const Window& window : sample.contexts) {
      const transform::ImageView view = decode(window, 3, worker);
      const std::int64_t start = now_ns();
      recipe_.graph.image(*sample.params, window.geometry, view, window.extent, images,
                          worker.scratch);
      times.transform_ns += now_ns() - start;
      images += 3 * plane;
    }
    if (!recipe_.with_labels) return;
    auto* labels = output_->as<std::uint8_t>() +
                   static_cast<std::size_t>(recipe_.batch) * recipe_.image_bytes() +
                   s * recipe_.label_bytes();
    if (!sample.has_label) {
      std::memset(labels, kIgnore, recipe_.label_bytes());
      return;
    }
    const transform::ImageView view = decode(sample.label, 1, worker);
    const std::int64_t start = now_ns();
    recipe_.graph.labels(*sample.params, sample.label.geometry, view, sample.label.extent, kIgnore,
                         labels, worker.scratch);
    times.transform_ns += now_ns() - start;
  });
}

Batch BatchWork::take(std::shared_ptr<device::BufferPool> pool) {
  // Members die last to first: the lease goes back before its pool may go.
  struct Held {
    std::shared_ptr<device::BufferPool> pool;
    device::BufferPool::Lease lease;
  };
  auto held = std::make_shared<Held>(Held{std::move(pool), std::move(output_)});
  Batch batch;
  batch.epoch = epoch_;
  batch.index = index_;
  batch.samples = static_cast<std::int64_t>(count_);
  batch.contexts = static_cast<std::int64_t>(recipe_.config.patch.context.size());
  batch.height = recipe_.config.patch.height;
  batch.width = recipe_.config.patch.width;
  for (std::size_t s = 0; s < count_; ++s) batch.sites.push_back(samples_[s].site);
  batch.images = held->lease->as<float>();
  if (recipe_.with_labels) {
    batch.labels = held->lease->as<std::uint8_t>() +
                   static_cast<std::size_t>(recipe_.batch) * recipe_.image_bytes();
  }
  batch.memory = std::move(held);
  return batch;
}

}  // namespace headrace::loader::detail
