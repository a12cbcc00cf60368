#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "headrace/core/progress.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/inference/network.hpp"
#include "learn/ranks/ordered_all_reduce.hpp"
#include "learn/runs/run_folder.hpp"
#include "learn/train/evaluate/chosen_figure.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/stop_listener.hpp"
#include "learn/train/train_state.hpp"
#include "learn/train/trainer.hpp"
#include "learn/train/training_times.hpp"

namespace headrace::train {

/// One training from its start or resume to its end; or one process's part in it. All do the same,
/// but only the first one writes the run folder and evaluates.
class Training {
 public:
  /// Opens the store, builds the network, and makes or opens the run folder.
  Training(const config::RunConfig& config, const TrainOptions& options,
           ranks::ProcessGroup& process_group);

  Json run();

 private:
  runs::RunFolder open_folder(const TrainOptions& options);
  /// Checks all that can be known before the first step: reports it, or refuses, before anything is
  /// made.
  void prepare(const std::string& out);
  void resume();
  /// Where the run is judged otherwise from here on.
  void forget_choice();
  /// Where a power failure has taken lines of steps that the checkpoint has.
  void warn_of_lost_lines() const;
  void train_steps();
  void join_sum();
  /// A step that was started, whose figures are not read yet.
  struct Started {
    std::int64_t step = 0;
    double rate = 0;
    double waited_s = 0;                             ///< for its batch
    bool after_pause = true;                         ///< no step was under way when it began
    std::shared_future<std::uint64_t> batch = {};    ///< the digest, where it is recorded
    std::optional<inference::StepLosses> read = {};  ///< where several processes train
  };
  void steps_until_end();
  bool validates_after(std::int64_t step) const;
  /// Validates and writes the checkpoint, where they are due after a step; false: the training ends.
  bool goes_on_after_step();
  void start_step(const loader::Batch& batch, Started started);
  /// Whether all that was started is read before the training goes on: what follows the step needs
  /// the weights, or is to be found after a kill.
  bool reads_all_after(std::int64_t step) const;
  /// Reads the figures of all steps but the newest `but`; false: the watcher ends the training with
  /// one of them.
  bool read_steps(std::size_t but);
  /// After an error: the same of all steps before it, if they can be had; an error of theirs comes
  /// first. Writes their lines.
  bool read_rest();
  /// Keeps what steps.jsonl has of a step that was read; false: the watcher ends it.
  bool record(const Started& started, const inference::StepLosses& losses);
  /// Writes the kept lines. Before each line of metrics and each checkpoint, so that a kill loses
  /// none of a step that isn't taken again.
  void write_steps();
  /// Whether the time of steps is that of a GPU's stream, which the host does not wait for.
  bool timed_by_stream() const { return read_behind_ > 0 && network_.on_gpu(); }
  StepNote own_note(std::uint64_t batch = 0) const;
  /// The digest of this process's samples of a batch. Where figures are read later, the batch is
  /// copied, and digested meanwhile.
  std::shared_future<std::uint64_t> digest(const loader::Batch& batch);
  std::uint64_t own_digest(const loader::Batch& batch);
  int asked_to_stop() const { return stop_ ? stop_->asked() : 0; }
  void take(const Started& started, const inference::StepLosses& losses);
  void append_step(const Started& started, const inference::StepLosses& losses);
  EvaluateOptions validation() const;
  /// False: it was left, since the training is asked to stop.
  bool validate();
  void record_validation(const Evaluation& result, Clock::time_point start);
  void keep_if_best(const Evaluation& result, const ChosenFigure& chosen);
  void count_without_improvement(const Evaluation& result);
  /// Whether train.patience is used up.
  bool ends_early() const;
  void checkpoint();
  bool has_checkpoint() const;  ///< of this step
  /// Errors: diverged, for weights that are not finite: none are judged or kept.
  void check_weights() const;
  void stop_if_asked();
  bool has_validation() const;
  Json finish();
  Json time_json();
  std::string class_names() const { return Json(cohort_->classes()).dump(); }

  const config::RunConfig& config_;
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
  const std::size_t read_behind_;
  std::deque<Started> started_;  ///< in their order
  std::string step_lines_;       ///< of steps.jsonl, not yet written
  bool ended_by_watcher_ = false;
  bool keeps_best_ = false;  ///< the best weights were chosen by other rules, and no step is left
  ThreadPool digesting_{0};
  std::shared_future<std::uint64_t> digest_;  ///< the last that was begun
  runs::RunFolder folder_;
  std::optional<loader::Loader> loader_;
  std::optional<device::GpuMeter> meter_;  ///< while a GPU trains
  std::optional<Progress> progress_;       ///< while steps are taken
  TrainingTimes times_;
};

}  // namespace headrace::train
