#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/device/gpu_meter.hpp"
#include "headrace/inference/network.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/ranks/ordered_all_reduce.hpp"
#include "headrace/runs/run_folder.hpp"
#include "headrace/train/evaluate/evaluate.hpp"
#include "headrace/train/stop_listener.hpp"
#include "headrace/train/train_state.hpp"
#include "headrace/train/trainer.hpp"
#include "headrace/train/training_times.hpp"

namespace headrace::train {

/// One training from its start or resume to its end; or one process's part in it. All do the same,
/// but only the first one writes the run folder and evaluates.
class Training {
 public:
  /// Opens the store, builds the network, and makes or opens the run folder.
  Training(const loader::RunConfig& config, const TrainOptions& options,
           ranks::ProcessGroup& process_group);

  Json run();

 private:
  runs::RunFolder open_folder(const TrainOptions& options);
  /// Checks all that can be known before the first step: reports it, or refuses, before anything is
  /// made.
  void prepare(const std::string& out);
  void resume();
  void train_steps();
  void join_sum();
  inference::StepLosses step(const loader::Batch& batch, double rate);
  StepNote own_note() const;
  int asked_to_stop() const { return stop_ ? stop_->asked() : 0; }
  void take(const inference::StepLosses& losses, double rate);
  void append_step(const inference::StepLosses& losses, double rate);
  EvaluateOptions validation() const;
  void validate();
  void record_validation(const Evaluation& result, Clock::time_point start);
  void checkpoint();
  void stop_if_asked();
  bool has_validation() const;
  Json finish();
  Json time_json();
  std::string class_names() const { return Json(cohort_->classes()).dump(); }

  const loader::RunConfig& config_;
  ranks::ProcessGroup& process_group_;
  ListenForStop listen_for_stop_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  std::shared_ptr<const loader::Preprocessing> preprocessing_;
  std::unique_ptr<StopListener> stop_;          ///< while steps are taken, where someone listens
  std::optional<ranks::OrderedAllReduce> sum_;  ///< where several processes train
  inference::Network network_;
  std::shared_ptr<const loader::SamplePlan> plan_;
  Json init_;  ///< the weights it began with; null: the seed's
  std::int64_t total_steps_;
  TrainState state_;
  runs::RunFolder folder_;
  std::optional<loader::Loader> loader_;
  std::optional<device::GpuMeter> meter_;  ///< while a GPU trains
  TrainingTimes times_;
};

}  // namespace headrace::train
