#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/batch.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/loader/plan/share.hpp"
#include "headrace/storage/network_counters.hpp"

namespace headrace::loader {

/// How the time of a run was spent. Stage times are summed over loader threads; waits are wall
/// time.
struct StallStats {
  std::uint64_t batches = 0, samples = 0, bytes_read = 0;
  double plan_s = 0, read_s = 0, decode_s = 0, transform_s = 0;  ///< worker time by stage
  /// The GPU's time for batches made there; streams overlap.
  double copy_s = 0, device_decode_s = 0, device_transform_s = 0;
  double data_wait_s = 0;   ///< the consumer waited for a batch
  double model_wait_s = 0;  ///< the loader waited for a free place in the ring
  double wall_s = 0;        ///< since the first next()
  /// What decoded the batches: "CPU", the names of decoders on a GPU, or both; and why the CPU
  /// decoded a batch that a GPU was allowed to decode (the first such batch); empty where it did
  /// not.
  std::string decoded_by, left_to_cpu;
  /// What this process asked of servers since the loader was made, also for others.
  storage::NetworkCounters network;
  /// What read the chunks: "the host", with the reason where GPUDirect was allowed, or "cuFile".
  std::string read_by;
  double stall_fraction() const { return wall_s > 0 ? data_wait_s / wall_s : 0; }
};

/// The first batch of a loader and what it makes.
struct LoaderStart {
  bool with_labels = false;
  std::uint64_t first_epoch = 0, first_batch = 0;
  std::optional<std::uint64_t> count = {};  ///< batches
  Share share = {};
};

/// Makes batches ahead of their consumer, in order. The bytes of batch b of epoch e depend only on
/// the config, the dataset and (e, b), not on threads, prefetch depth, earlier batches or restarts.
/// At most `prefetch` finished batches are held.
///
/// With loader.device cuda the workers decode into pinned memory; or, with loader.decode, they read
/// encoded chunks there (with loader.gpudirect straight to the GPU) and the GPU decodes them. The
/// worker that finishes a batch puts copy, decoding and transform into a stream, so next() returns
/// a batch that the GPU may still be making (see Batch::hold). Where the host could not check the
/// batch's chunks by checksums, next() waits until the GPU has decoded them. The constructor takes
/// memory of the GPU from its driver, as much as loader.device_memory_mib says, and nothing of the
/// loader waits for the GPU's work to take more later. The calling threads' current GPUs stay. The
/// bytes are the CPU's, except for JPEG with loader.decode gpu. auto makes batches on the CPU: the
/// caller that feeds a model on a GPU chooses.
class Loader {
 public:
  /// Starts at batch `first_batch` of `first_epoch`: to resume, start where the run stopped.
  /// `with_labels`: also gathers config.data.labels (images without them read as 255, ignore).
  /// `count`: ends after this many batches; without it training continues into further epochs
  /// without end. `share`: makes only these samples of every batch, with the same bytes as in the
  /// whole batch.
  Loader(std::shared_ptr<const cohort::Cohort> cohort, const LoaderConfig& config,
         std::shared_ptr<const SamplePlan> plan, bool with_labels, std::uint64_t first_epoch = 0,
         std::uint64_t first_batch = 0, std::optional<std::uint64_t> count = {}, Share share = {});
  /// The same with a run's preprocessing; the first one fits it on the cohort's training split.
  Loader(std::shared_ptr<const cohort::Cohort> cohort, const LoaderConfig& config,
         std::shared_ptr<const SamplePlan> plan, std::shared_ptr<const Preprocessing> preprocessing,
         const LoaderStart& start);
  ~Loader();

  /// The next batch; nullopt after `count` batches, and after the one epoch of a tile plan, whose
  /// last batch may hold fewer samples. For one consumer thread. Errors are those of the lowest
  /// failing sample.
  std::optional<Batch> next();
  /// Waits at most this long for the workers; true when next() would not wait for them: for a
  /// batch, an error or the end. For callers that look at something else meanwhile. It counts as
  /// waiting for data. For the thread that calls next().
  bool wait(std::chrono::milliseconds at_most);
  /// Waits until all batches that may be made ahead are made.
  void fill();
  std::uint64_t batches_per_epoch() const noexcept;
  StallStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::loader
