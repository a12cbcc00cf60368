#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/inference/stitcher.hpp"
#include "learn/inference/tile_feed.hpp"
#include "learn/predict/trained_run.hpp"

namespace headrace::predict {

/// One run over the tiles of some images, through its loader and transforms, blended: the parts are
/// those of an evaluation. They do not depend on `batch`, on threads, or on other images. One
/// thread calls it; tiles are blended on as many as the loader of the run has.
///
/// memory  that of Stitcher and its canvas
class TilePass {
 public:
  struct Options {
    std::int64_t batch = 0;  ///< tiles the loader makes at once; 0: eval.batch of the run
    bool flips = false;
    /// Class probabilities of a batch, as Network::predict_each gives them, in place of the run's
    /// network: bench/predict_path measures all the rest with it.
    std::function<std::span<const float>(const loader::Batch&)> network = {};
  };
  /// images: rising. run must outlive it.
  TilePass(const TrainedRun& run, std::shared_ptr<const cohort::Cohort> cohort,
           const std::vector<std::uint32_t>& images, const Options& options);
  TilePass(const TilePass&) = delete;
  TilePass& operator=(const TilePass&) = delete;

  std::uint64_t tiles() const noexcept { return plan_->samples_per_epoch(); }
  /// Tiles of a batch.
  std::int64_t batch() const noexcept { return options_.batch; }
  /// Opens the loader, once, if there are tiles. On the host, `sink` gets the parts; or they are
  /// blended into a canvas that is where the network is.
  void start_here(inference::Canvas::Sink sink);
  void start_there(std::unique_ptr<inference::Canvas> canvas);
  /// Predicts the next batch, and after the last one finishes the canvas. False: that was done
  /// before, or nothing was started.
  bool step();
  /// Tiles whose prediction has been blended.
  std::uint64_t done() const noexcept { return done_; }

 private:
  void start(const loader::LoaderConfig& config, std::unique_ptr<inference::Canvas> canvas);
  void predict_batch(const loader::Batch& batch);

  Options options_;
  const TrainedRun& run_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  std::int64_t classes_;
  std::shared_ptr<const loader::SamplePlan> plan_;
  std::uint64_t done_ = 0;
  bool there_ = false;  ///< tiles are blended where the network is
  std::unique_ptr<inference::TileFeed> loader_;
  ThreadPool pool_;
  std::vector<inference::TileResult> batch_;
  std::optional<inference::Stitcher> stitcher_;
};

}  // namespace headrace::predict
