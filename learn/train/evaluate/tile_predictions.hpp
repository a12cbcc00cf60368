#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "headrace/device/pinned_range.hpp"
#include "learn/inference/network.hpp"
#include "learn/inference/tile_feed.hpp"
#include "learn/ranks/process_group.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/evaluate/gathered_tiles.hpp"

namespace headrace::train {

/// The tiles of a split, batch by batch in the order of the plan, predicted. With several processes
/// each reads and predicts batches in turn, and the first one, which has this, gets what the others
/// made: rounds, of which its own batch comes first. One thread.
class TilePredictions {
 public:
  /// there: probabilities and labels are given where the network is, else on the host.
  /// process_group: null: no other processes; else a collective.
  TilePredictions(inference::Network& network, bool there,
                  const std::shared_ptr<const cohort::Cohort>& cohort,
                  const config::RunConfig& config, std::shared_ptr<const loader::SamplePlan> plan,
                  std::shared_ptr<const loader::Preprocessing> preprocessing,
                  const EvaluateOptions& options, ranks::ProcessGroup* process_group);
  ~TilePredictions();
  TilePredictions(const TilePredictions&) = delete;
  TilePredictions& operator=(const TilePredictions&) = delete;

  struct Made {
    loader::Batch batch;  ///< that of another process has no images
    inference::Network::There predicted;
    /// On the host, for pictures; empty where there are none.
    std::function<std::span<const std::uint8_t>()> labels;
  };
  /// The next batch, valid until the next call. Errors: those of the loader; EvaluationStopped.
  std::optional<Made> next();
  /// Sample `sample` of a batch as one of its own, with images, on the host: read again where
  /// another process predicted it.
  loader::Batch sample_on_host(const Made& made, std::int64_t sample);
  loader::StallStats stats() const { return feed_.stats(); }

 private:
  std::optional<Made> own();
  Made of_other(int rank);
  const loader::Batch& read_again(std::uint64_t index);

  inference::Network& network_;
  bool there_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  loader::LoaderConfig config_;
  std::shared_ptr<const loader::SamplePlan> plan_;
  std::shared_ptr<const loader::Preprocessing> preprocessing_;
  EvaluateOptions options_;
  ranks::ProcessGroup* process_group_;
  std::uint64_t size_;      ///< of the group
  std::uint64_t next_ = 0;  ///< batch
  inference::TileFeed feed_;
  std::optional<GatheredTiles> rows_;
  device::cuda::PinnedRange pinned_;
  loader::Batch shape_;                 ///< of a batch of this process, without its memory
  std::optional<loader::Batch> again_;  ///< what was read again last
};

/// The config of a loader of tiles that are blended where the network is, or on the host.
loader::LoaderConfig tile_config(const inference::Network& network, const cohort::Cohort& cohort,
                                 const loader::LoaderConfig& config, bool there);

}  // namespace headrace::train
