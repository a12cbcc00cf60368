#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/ranks/rank_info.hpp"
#include "learn/train/run/step_record.hpp"
#include "learn/train/stop_listener.hpp"

namespace headrace::train {

/// Sees a training as it goes: what replays a run compares it with this.
class TrainingWatcher {
 public:
  virtual ~TrainingWatcher() = default;
  /// Before the first step. `run`: what run.json has of it; `preprocessing`: as fitted.
  virtual void begins(const Json& run, const loader::Preprocessing& preprocessing) = 0;
  /// After each step. False: the training ends here, without evaluation or result.
  virtual bool goes_on(const StepRecord& step) = 0;
};

struct TrainOptions {
  std::string out;                  ///< run folder
  bool resume = false;              ///< continue from the newest checkpoint of `out`
  std::string code_version;         ///< recorded in run.json; a resume needs the same release
  ranks::RankInfo rank_info{};      ///< this process's, where several train together
  std::string init{};               ///< run folder or weights file to begin with; empty: none
  ListenForStop listen_for_stop{};  ///< empty: nothing stops it but its end or an error
  Json code{};                      ///< what the program was built with; recorded
  int threads = 0;                  ///< LibTorch's, in place of train.threads; 0: those
  bool cpu_only = false;            ///< on the CPU where loader.device leaves the choice
  TrainingWatcher* watcher = nullptr;
  /// Takes steps for the watcher alone: nothing is written, and nothing validated.
  bool steps_only = false;
  /// How many steps the figures of a step may be read later; nothing: 2 on a GPU, which then need
  /// not wait for the host, else 0. Decides nothing but that.
  std::optional<std::size_t> read_behind = {};
};

/// Thrown instead of an Error that another process of the training reports to the user.
struct ToldElsewhere {
  ErrorCode code;
};

/// What a training has made. Figures are those of the final weights on the validation split.
struct TrainResult {
  std::int64_t steps = 0;
  double loss = 0;                                    ///< of the last step
  std::map<std::string, std::optional<double>> dice;  ///< by class; nothing where undefined
  std::optional<double> mean_dice;                    ///< over the classes but background
  std::optional<double> kappa;                        ///< task grading
  std::int64_t best_step = 0;  ///< whose weights are kept as the best; 0: no validation had a value
  std::optional<double> best_mean_dice;
  std::string weights_sha256, config_hash, dataset_hash;
  /// summary.json (docs/formats.md, "Run folder"): also times and the figures of lesions.
  Json json;
};

/// Trains, validates, evaluates the final weights, and writes the run folder with its report.
///
/// The weights and every figure but those under "time" are a function of config, dataset, code and
/// `runtime` in run.json (LibTorch's version, threads, device): the same for any number of loader
/// threads, after a stop or kill at any moment and a resume, and for any number of processes that
/// divides train.gradient_parts. The first of them writes the run folder and evaluates; the others
/// return nothing, nor does a training that its watcher has ended, or of steps alone.
///
/// errors  usage (config, another dataset or config on resume), cancelled (asked to by
///         `listen_for_stop`, after a checkpoint), those of the loader
std::optional<TrainResult> train(const config::RunConfig& config, const TrainOptions& options);

}  // namespace headrace::train
