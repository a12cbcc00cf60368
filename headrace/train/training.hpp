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
#include "headrace/train/evaluate/chosen_figure.hpp"
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
  /// Keeps what steps.jsonl has of the step that was just taken; false: the watcher ends it.
  bool record(const inference::StepLosses& losses);
  /// Writes the kept lines. Before each line of metrics and each checkpoint, so that a kill loses
  /// none of a step that isn't taken again.
  void write_steps();
  StepNote own_note(std::uint64_t batch = 0) const;
  /// Of this process's samples of the batch of the next step, where it is recorded; else 0.
  std::uint64_t digest(const loader::Batch& batch);
  int asked_to_stop() const { return stop_ ? stop_->asked() : 0; }
  void take(const inference::StepLosses& losses, double rate);
  void append_step(const inference::StepLosses& losses, double rate);
  EvaluateOptions validation() const;
  void validate();
  void record_validation(const Evaluation& result, Clock::time_point start);
  void keep_if_best(const Evaluation& result, const ChosenFigure& chosen);
  void count_without_improvement(const Evaluation& result);
  /// Whether train.patience is used up.
  bool ends_early() const;
  void checkpoint();
  void stop_if_asked();
  bool has_validation() const;
  Json finish();
  Json time_json();
  std::string class_names() const { return Json(cohort_->classes()).dump(); }

  const loader::RunConfig& config_;
  TrainingWatcher* const watcher_;
  const bool steps_only_;
  ranks::ProcessGroup& process_group_;
  ListenForStop listen_for_stop_;
  std::shared_ptr<const cohort::Cohort> cohort_;
  std::shared_ptr<const loader::Preprocessing> preprocessing_;
  std::unique_ptr<StopListener> stop_;          ///< while steps are taken, where someone listens
  std::optional<ranks::OrderedAllReduce> sum_;  ///< where several processes train
  inference::Network network_;
  std::shared_ptr<const cohort::Cohort> validated_;  ///< as validations see it: eval.subset
  std::shared_ptr<const loader::SamplePlan> plan_;
  Json init_;      ///< the weights it began with; null: the seed's
  Json identity_;  ///< what run.json has of it now
  std::int64_t total_steps_;
  TrainState state_;
  std::uint64_t batch_digest_ = 0;  ///< of the whole batch of the last step, where it is recorded
  std::string step_lines_;          ///< of steps.jsonl, not yet written
  bool ended_by_watcher_ = false;
  ThreadPool digesting_{0};
  runs::RunFolder folder_;
  std::optional<loader::Loader> loader_;
  std::optional<device::GpuMeter> meter_;  ///< while a GPU trains
  TrainingTimes times_;
};

}  // namespace headrace::train
