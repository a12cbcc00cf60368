#pragma once
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/plan/loader_plan.hpp"
#include "headrace/transform/slide/slide_cuda_graph.hpp"
#include "headrace/transform/volume/volume_cuda_graph.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::loader::detail {

/// Memory that a worker thread keeps from batch to batch, so that nothing is allocated once its
/// buffers have grown.
struct Worker {
  ThreadPool inline_pool{1};
  transform::Scratch scratch;
  transform::VolumeScratch volume_scratch;
  /// The image and the labels under the current sample (for slides: under the current context),
  /// small enough to stay in the cache.
  device::HostBuffer window, label_window;
  /// Values of the current sample, where the batch stores them in another format.
  device::HostBuffer values;
};

/// Memory of at least `bytes`. It grows by half as much again; otherwise every slightly larger
/// window would need fresh pages.
std::byte* grown(device::HostBuffer& buffer, std::int64_t bytes);

struct StageTimes {
  std::int64_t plan_ns = 0, transform_ns = 0;
};

std::int64_t now_ns();
/// The part of [origin, origin + size) that lies in [0, extent): {first, count} from origin.
std::array<std::int64_t, 2> part_inside(std::int64_t origin, std::int64_t size,
                                        std::int64_t extent);

/// Memory for a batch made on a GPU: the arena's copy there, the outputs, and working memory.
struct DeviceTarget {
  const std::byte* windows;
  std::byte* images;
  std::uint8_t* labels;  ///< null: none
  transform::CudaScratch& scratch;
  transform::VolumeCudaScratch& volume_scratch;
  device::cuda::Stream& stream;
};

/// One batch being made: prepare once, then make_sample for each sample on any threads, then take.
/// Reusable. The derived classes for slides and volumes define what a sample is.
///
/// Without an arena make_sample decodes and transforms. With one it only decodes, each window into
/// its place in the arena, and `launch` transforms all of them from a copy of the arena.
class BatchWork {
 public:
  explicit BatchWork(const LoaderPlan& loader_plan) : loader_plan_(loader_plan) {}
  virtual ~BatchWork() = default;
  static std::unique_ptr<BatchWork> make(const LoaderPlan& loader_plan);
  /// prepare asks `memory` once for each batch for memory that stays until the next; null where
  /// only `use_arena` will give it.
  void into_arena(std::function<std::byte*(std::size_t)> memory) {
    arena_memory_ = std::move(memory);
  }
  void use_arena(std::byte* memory) noexcept { arena_ = memory; }
  /// The function that prepare reads with, instead of BatchRead::fetch.
  void read_with(std::function<void(zarr::BatchRead&, ThreadPool&)> fetch) {
    fetch_ = std::move(fetch);
  }

  /// Draws every sample, finds what it needs, and reads it, on `threads`. From the first sample that
  /// can't be planned on, samples are left out; its error is kept for `plan_error`. Throws the errors
  /// of reading the batch.
  void prepare(std::uint64_t epoch, std::uint64_t index, device::BufferPool& pool,
               ThreadPool& threads);
  std::size_t planned() const noexcept { return planned_; }
  std::exception_ptr plan_error() const noexcept { return plan_error_; }

  /// Decodes and transforms sample `s` < planned() into the batch; or decodes it into the arena.
  void make_sample(std::size_t s, Worker& worker, StageTimes& times);

  /// The other way to fill an arena: the reads, for a decoder that writes into a copy of it.
  zarr::BatchRead& reads() noexcept { return read_; }
  const zarr::BatchRead& reads() const noexcept { return read_; }
  /// Places of the regions of reads(), in bytes of the arena.
  std::vector<std::uint64_t> destinations() const;
  /// "epoch 0, batch 3".
  std::string name() const;

  zarr::ReadStats read_stats() const { return read_.stats(); }
  StageTimes plan_times() const { return {plan_ns_, 0}; }
  /// Puts the transform of all samples into the target's stream.
  virtual void launch(const DeviceTarget& target) const = 0;
  /// The finished batch; its memory goes back to `pool` when it is destroyed. For a batch with an
  /// arena: all but images, labels and memory.
  Batch take(std::shared_ptr<device::BufferPool> pool);

 protected:
  virtual void reserve(std::size_t samples) = 0;
  /// Draws sample `s` at sites_[s] and locates its windows.
  virtual void plan_sample(std::size_t s, const transform::SampleKey& key) = 0;
  /// Adds what sample `s` needs to read_.
  virtual void add_reads(std::size_t s) = 0;
  /// Reserves places for the sample's windows in the arena.
  virtual void lay_out(std::size_t s) = 0;
  /// Decodes the sample's windows into the arena.
  virtual void fill(std::size_t s) = 0;
  /// Sets the places of the sample's regions in the arena, by their numbers in read_.
  virtual void locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const = 0;
  /// `images`: of the whole batch; `labels`: of the sample, null in a run without labels.
  virtual void make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
                    StageTimes& times) = 0;

  /// The next place in the arena, with readable bytes after it.
  std::size_t place(std::int64_t bytes);
  std::byte* arena() const noexcept { return arena_; }
  /// Where a transform writes `channels` planes of `pixels` that become values of the batch, and the
  /// step after it: nothing where the batch stores them in that form.
  float* planes(std::byte* images, std::int64_t channels, std::int64_t pixels,
                Worker& worker) const;
  void store(const float* planes, std::int64_t channels, std::int64_t pixels,
             std::byte* images) const;

  /// The labels of an image at the level from which its patches are read; null where they are not
  /// asked for, or nothing is known.
  std::shared_ptr<const zarr::Array> labels_of(std::size_t image, std::size_t level) const;

  const LoaderPlan& loader_plan_;
  /// Adds a region to read_; returns its number.
  std::size_t add_region(std::shared_ptr<const zarr::Array> array, zarr::RegionRead region);

  zarr::BatchRead read_;
  std::vector<SampleSite> sites_;

 private:
  std::string where(std::size_t s) const;
  void plan_samples(std::uint64_t first, ThreadPool& threads);
  std::uint64_t first_sample() const {
    return static_cast<std::uint64_t>(loader_plan_.first_sample);
  }

  std::size_t count_ = 0, planned_ = 0, regions_ = 0;
  std::exception_ptr plan_error_;
  std::uint64_t epoch_ = 0, index_ = 0;
  std::int64_t plan_ns_ = 0;
  device::BufferPool::Lease output_;
  std::function<std::byte*(std::size_t)> arena_memory_;
  std::function<void(zarr::BatchRead&, ThreadPool&)> fetch_;
  std::byte* arena_ = nullptr;
  std::size_t arena_bytes_ = 0;
};

}  // namespace headrace::loader::detail
