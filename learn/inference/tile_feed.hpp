#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/loader/loader.hpp"

namespace headrace::inference {

/// Batches of tiles, made on a GPU as long as their memory is there. Where it is not, before the
/// first batch or at a later one, a sentence says so and the host makes all from there on: the same
/// bytes (batch_place.hpp), so that an evaluation does not end for it. One thread.
class TileFeed {
 public:
  /// `config` is that of either place. Errors: those of Loader but memory, and what a GPU does not
  /// support.
  TileFeed(std::shared_ptr<const cohort::Cohort> cohort, const loader::LoaderConfig& config,
           std::shared_ptr<const loader::SamplePlan> plan,
           std::shared_ptr<const loader::Preprocessing> preprocessing,
           const loader::LoaderStart& start);

  /// Those of Loader. Times are of the loader that makes the batches now.
  std::optional<loader::Batch> next();
  std::uint64_t batches_per_epoch() const noexcept { return loader_->batches_per_epoch(); }
  loader::StallStats stats() const { return loader_->stats(); }

 private:
  void open();
  /// True where the host takes over, after an error of a GPU.
  bool goes_on_without(const Error& error);

  std::shared_ptr<const cohort::Cohort> cohort_;
  loader::LoaderConfig config_;
  std::shared_ptr<const loader::SamplePlan> plan_;
  std::shared_ptr<const loader::Preprocessing> preprocessing_;
  loader::LoaderStart start_;  ///< of the next batch
  std::unique_ptr<loader::Loader> loader_;
};

}  // namespace headrace::inference
