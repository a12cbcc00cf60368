#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/transform/graph.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::loader::detail {

/// What every batch of a loader is made from. Immutable.
struct Recipe {
  std::shared_ptr<const source::Cohort> cohort;
  RunConfig config;
  std::shared_ptr<const SamplePlan> plan;
  transform::Graph graph;
  bool with_labels = false;
  std::int64_t batch = 0;  ///< samples a full batch

  std::size_t image_bytes() const;  ///< of one sample, all contexts
  std::size_t label_bytes() const;  ///< of one sample
  std::size_t batch_bytes() const;
};

/// What a worker thread keeps from batch to batch, so that nothing is allocated once its buffers
/// have grown.
struct Worker {
  ThreadPool inline_pool{1};
  transform::Scratch scratch;
  device::HostBuffer window;  ///< of the context in work: small enough to stay in the cache
};

struct StageTimes {
  std::int64_t plan_ns = 0, transform_ns = 0;
};

/// One batch in the making: prepare once, then make_sample for each sample on any threads, then
/// take. Reusable.
class BatchWork {
 public:
  explicit BatchWork(const Recipe& recipe) : recipe_(recipe) {}

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

 private:
  struct Window {
    transform::PatchGeometry geometry;
    std::vector<zarr::RowSpan> spans;
    Box2 extent;           ///< the part that the level has, in window pixels
    bool empty = false;    ///< the level has none of it: nothing is read
    std::size_t read = 0;  ///< region of read_
    std::int64_t row_bytes = 0;
    std::shared_ptr<const zarr::Array> array;
  };
  struct Sample {
    SampleSite site;
    std::shared_ptr<const transform::SampleParams> params;
    std::vector<Window> contexts;
    Window label;
    bool has_label = false;
  };

  void plan_sample(Sample& sample, std::uint64_t epoch, std::uint64_t index);
  void place(Window& window, const source::ImageLevel& level, std::int64_t channels);
  void add_read(Window& window, std::int64_t channels);
  std::string where(std::size_t s) const;
  transform::ImageView decode(const Window& window, std::int64_t channels, Worker& worker);

  const Recipe& recipe_;
  zarr::BatchRead read_;
  std::vector<Sample> samples_;
  std::size_t count_ = 0, planned_ = 0;
  std::exception_ptr plan_error_;
  std::uint64_t epoch_ = 0, index_ = 0;
  std::int64_t plan_ns_ = 0;
  device::BufferPool::Lease output_;
};

}  // namespace headrace::loader::detail
