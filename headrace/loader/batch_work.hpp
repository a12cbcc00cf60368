#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/recipe.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::loader::detail {

/// What a worker thread keeps from batch to batch, so that nothing is allocated once its buffers
/// have grown.
struct Worker {
  ThreadPool inline_pool{1};
  transform::Scratch scratch;
  transform::VolumeScratch volume_scratch;
  /// The image and the labels under the sample in work (of slides: under the context in work):
  /// small enough to stay in the cache.
  device::HostBuffer window, label_window;
};

/// Memory of at least `bytes`, grown by half as much again, or every slightly larger window would
/// be fresh pages.
std::byte* grown(device::HostBuffer& buffer, std::int64_t bytes);

struct StageTimes {
  std::int64_t plan_ns = 0, transform_ns = 0;
};

std::int64_t now_ns();
/// The part of [origin, origin + size) that lies in [0, extent): {first, count} from origin.
std::array<std::int64_t, 2> part_inside(std::int64_t origin, std::int64_t size,
                                        std::int64_t extent);

/// One batch in the making: prepare once, then make_sample for each sample on any threads, then
/// take. Reusable. What a sample is, slides and volumes say.
class BatchWork {
 public:
  explicit BatchWork(const Recipe& recipe) : recipe_(recipe) {}
  virtual ~BatchWork() = default;
  static std::unique_ptr<BatchWork> make(const Recipe& recipe);

  /// Draws every sample, finds what it needs to read and reads it. Samples from the first that
  /// can't be planned on are left out; its error is kept for `error`. Throws what reading the batch
  /// throws.
  void prepare(std::uint64_t epoch, std::uint64_t index, device::BufferPool& pool, Worker& worker);
  std::size_t planned() const noexcept { return planned_; }
  std::exception_ptr plan_error() const noexcept { return plan_error_; }

  /// Decodes and transforms sample `s` < planned() into the batch.
  void make_sample(std::size_t s, Worker& worker, StageTimes& times);

  zarr::ReadStats read_stats() const { return read_.stats(); }
  StageTimes plan_times() const { return {plan_ns_, 0}; }
  /// The finished batch; its memory goes back to `pool` when it is destroyed.
  Batch take(std::shared_ptr<device::BufferPool> pool);

 protected:
  virtual void reserve(std::size_t samples) = 0;
  /// Draws sample `s` at sites_[s] and locates its windows.
  virtual void plan_sample(std::size_t s, const transform::SampleKey& key) = 0;
  /// Adds what sample `s` needs to read_.
  virtual void add_reads(std::size_t s) = 0;
  /// `labels` is null for a run without labels.
  virtual void make(std::size_t s, float* images, std::uint8_t* labels, Worker& worker,
                    StageTimes& times) = 0;

  /// Whether labels are asked for and the image has them.
  bool has_labels(const source::ImageRecord& image) const;

  const Recipe& recipe_;
  zarr::BatchRead read_;
  std::vector<SampleSite> sites_;

 private:
  std::string where(std::size_t s) const;

  std::size_t count_ = 0, planned_ = 0;
  std::exception_ptr plan_error_;
  std::uint64_t epoch_ = 0, index_ = 0;
  std::int64_t plan_ns_ = 0;
  device::BufferPool::Lease output_;
};

}  // namespace headrace::loader::detail
