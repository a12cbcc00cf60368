#include "headrace/loader/batch_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/loader/slide/slide_work.hpp"
#include "headrace/loader/volume/volume_work.hpp"

namespace headrace::loader::detail {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::array<std::int64_t, 2> part_inside(std::int64_t origin, std::int64_t size,
                                        std::int64_t extent) {
  const std::int64_t begin = std::clamp<std::int64_t>(-origin, 0, size);
  return {begin, std::clamp<std::int64_t>(extent - origin, begin, size) - begin};
}

std::byte* grown(device::HostBuffer& buffer, std::int64_t bytes) {
  const auto needed = static_cast<std::size_t>(bytes);
  if (needed > buffer.size()) buffer.reserve(needed + needed / 2);
  return buffer.data();
}

std::unique_ptr<BatchWork> BatchWork::make(const LoaderPlan& loader_plan) {
  if (loader_plan.config.volumes) return std::make_unique<VolumeWork>(loader_plan);
  return std::make_unique<SlideWork>(loader_plan);
}

std::shared_ptr<const zarr::Array> BatchWork::labels_of(std::size_t image,
                                                        std::size_t level) const {
  if (!loader_plan_.with_labels) return nullptr;
  const std::string& name = loader_plan_.config.data.labels;
  if (!loader_plan_.cohort->images()[image].has_labels(name)) return loader_plan_.background[image];
  return loader_plan_.cohort->label_array(image, name, level);
}

std::string BatchWork::where(std::size_t s) const {
  return fmt::format("{}, sample {} (image {})", name(), first_sample() + s,
                     loader_plan_.cohort->images()[sites_[s].image].id);
}

std::string BatchWork::name() const { return fmt::format("epoch {}, batch {}", epoch_, index_); }

std::size_t BatchWork::add_region(std::shared_ptr<const zarr::Array> array,
                                  zarr::RegionRead region) {
  ++regions_;
  return read_.add(std::move(array), std::move(region));
}

std::vector<std::uint64_t> BatchWork::destinations() const {
  std::vector<std::uint64_t> destinations(regions_);
  for (std::size_t s = 0; s < planned_; ++s) locate_regions(s, destinations);
  return destinations;
}

/// Draws the samples from number `first` of the epoch on. All are tried; of several that fail the
/// first one counts.
void BatchWork::plan_samples(std::uint64_t first, ThreadPool& threads) {
  std::mutex mutex;
  planned_ = count_;
  threads.parallel_for(count_, [&](std::size_t s) {
    try {
      sites_[s] = loader_plan_.plan->site(epoch_, first + s);
      with_context(where(s), [&] {
        plan_sample(s, {loader_plan_.config.sampling.seed, epoch_, first + s});
      });
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (s >= planned_) return;
      planned_ = s;
      plan_error_ = std::current_exception();
    }
  });
}

void BatchWork::prepare(std::uint64_t epoch, std::uint64_t index, device::BufferPool& pool,
                        ThreadPool& threads) {
  const std::int64_t start = now_ns();
  epoch_ = epoch;
  index_ = index;
  plan_error_ = nullptr;
  planned_ = 0;
  read_.clear();
  regions_ = 0;
  // The last batch of a tile plan may end before this loader's share, or inside it.
  const std::uint64_t end = loader_plan_.plan->samples_per_epoch();
  const std::uint64_t first =
      std::min(end, index * static_cast<std::uint64_t>(loader_plan_.whole_batch) + first_sample());
  count_ = static_cast<std::size_t>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(loader_plan_.batch), end - first));
  sites_.resize(count_);
  reserve(static_cast<std::size_t>(loader_plan_.batch));
  if (!arena_memory_) output_ = pool.take(loader_plan_.batch_bytes());
  plan_samples(first, threads);
  for (std::size_t s = 0; s < planned_; ++s) add_reads(s);
  if (arena_memory_) {
    arena_bytes_ = 0;
    for (std::size_t s = 0; s < planned_; ++s) lay_out(s);
    arena_ = arena_memory_(arena_bytes_);
  }
  plan_ns_ = now_ns() - start;
  if (fetch_) {
    fetch_(read_, threads);
  } else {
    read_.fetch(threads);
  }
}

std::size_t BatchWork::place(std::int64_t bytes) {
  constexpr std::size_t kAlign = 256;  // size of transactions on a GPU
  const std::size_t at = arena_bytes_;
  const std::size_t end = at + static_cast<std::size_t>(bytes) + device::HostBuffer::kTailPadding;
  arena_bytes_ = (end + kAlign - 1) / kAlign * kAlign;
  return at;
}

float* BatchWork::planes(std::byte* images, std::int64_t channels, std::int64_t pixels,
                         Worker& worker) const {
  if (loader_plan_.format == transform::TensorFormat{}) return reinterpret_cast<float*>(images);
  const std::int64_t bytes = channels * pixels * std::int64_t{sizeof(float)};
  return reinterpret_cast<float*>(grown(worker.values, bytes));
}

void BatchWork::store(const float* planes, std::int64_t channels, std::int64_t pixels,
                      std::byte* images) const {
  if (loader_plan_.format == transform::TensorFormat{}) return;
  transform::convert(planes,
                     {images, loader_plan_.format, static_cast<std::int32_t>(channels), pixels});
}

void BatchWork::make_sample(std::size_t s, Worker& worker, StageTimes& times) {
  if (arena_memory_) {
    with_context(where(s), [&] { fill(s); });
    return;
  }
  std::byte* images = output_->data();
  std::uint8_t* labels = nullptr;
  if (loader_plan_.with_labels) {
    labels =
        output_->as<std::uint8_t>() + loader_plan_.labels_at() + s * loader_plan_.label_bytes();
  }
  with_context(where(s), [&] { make(s, images, labels, worker, times); });
  if (labels != nullptr)
    loader_plan_.label_views[sites_[s].image].apply({labels, loader_plan_.label_bytes()});
}

Batch BatchWork::take(std::shared_ptr<device::BufferPool> pool) {
  Batch batch;
  batch.epoch = epoch_;
  batch.index = index_;
  batch.samples = static_cast<std::int64_t>(count_);
  batch.contexts = loader_plan_.contexts;
  batch.channels = loader_plan_.channels;
  batch.depth = loader_plan_.depth;
  batch.height = loader_plan_.height;
  batch.width = loader_plan_.width;
  batch.sites = sites_;
  batch.format = loader_plan_.format;
  if (!loader_plan_.config.views.empty()) {
    for (const ViewPlan& view : loader_plan_.views)
      batch.views.push_back({view.name, view.crops, view.graph.patch().height,
                             view.graph.patch().width, loader_plan_.view_at(view)});
  }
  batch.class_sets = loader_plan_.cohort->class_sets();
  if (arena_memory_) return batch;
  // Members are destroyed last to first, so the lease goes back before its pool can be destroyed.
  struct Held {
    std::shared_ptr<device::BufferPool> pool;
    device::BufferPool::Lease lease;
  };
  auto held = std::make_shared<Held>(Held{std::move(pool), std::move(output_)});
  batch.images = held->lease->data();
  if (loader_plan_.with_labels)
    batch.labels = held->lease->as<std::uint8_t>() + loader_plan_.labels_at();
  batch.memory = std::move(held);
  return batch;
}

}  // namespace headrace::loader::detail
