#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "cli/code_version.hpp"
#include "cli/commands.hpp"
#include "cli/config_keys.hpp"
#include "cli/figure_text.hpp"
#include "cli/launch.hpp"
#include "cli/torch_program.hpp"
#include "cli/train_folds.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "learn/config/run_config.hpp"
#include "learn/ranks/ordered_all_reduce.hpp"
#include "learn/ranks/rank_info.hpp"
#include "learn/runs/folds_folder.hpp"
#ifdef HR_TORCH
#include "cli/code_facts.hpp"
#include "cli/process_settings.hpp"
#include "cli/stop_signal.hpp"
#include "cli/trackers.hpp"
#include "cli/validation_predictions.hpp"
#include "learn/train/trainer.hpp"
#endif

namespace headrace::cli {
namespace {

constexpr const char* kFooter =
    "The run folder gets config.json, run.json, metrics.jsonl, checkpoints/, final.safetensors,\n"
    "eval.json and report.html. SIGINT and SIGTERM write a checkpoint first; --resume goes on from "
    "the\n"
    "newest one, with the same weights as an unbroken run.\n"
    "\n"
    "Several processes, one a GPU, share every batch. Set train.gradient_parts to their number, or "
    "a\n"
    "multiple of it: one process, or any number that divides it, gives the same weights to the "
    "last\n"
    "bit, and --resume may take another number. torchrun --no-python and other launchers that set\n"
    "RANK, WORLD_SIZE and LOCAL_RANK do instead of --processes.\n"
    "\n"
    "--folds K deals the patients of data.train and data.val into K parts and trains a run for each,\n"
    "judged by that part; OUT/folds.json has the figures of all. An interrupted one goes on by\n"
    "--resume. --fold I trains one of them alone, as in a job array; --resume without it adds the\n"
    "rest.\n"
    "\n"
    "Examples:\n"
    "  headrace train --config gleason.yaml --out runs/gleason\n"
    "  headrace train --config gleason.yaml --out runs/gleason --resume --json\n"
    "  headrace train --config eight-parts.yaml --out runs/a --processes 4\n"
    "  headrace train --config next-round.yaml --out runs/b --init runs/a\n"
    "  headrace train --config gleason.yaml --out runs/five --folds 5\n"
    "  headrace train --keys\n"
    "\n"
    "Exit codes: 0 done, 1 failed or stopped, 2 usage (config, other dataset).";

struct Arguments {
  std::string config, out, init;
  bool resume = false, json = false, predictions = false;
  int processes = 1;
  int folds = 0;
  std::optional<int> fold;  ///< of the folds, the one that this process trains

  FoldsRequest folds_request() const { return {folds, fold, config, out, resume, json, processes}; }
};

/// Starts the processes that train. What can be refused earlier is refused here, once.
void launch(const Arguments& arguments) {
  if (std::getenv("RANK") != nullptr) {
    fail(ErrorCode::usage,
         "--processes {}, but RANK is set: a launcher has started this process as one of several. "
         "Leave --processes out, or unset RANK and WORLD_SIZE.",
         arguments.processes);
  }
  const auto config = config::RunConfig::load(arguments.config);
  ranks::check_parts(config.train.gradient_parts, arguments.processes);
#if defined(HR_TORCH) || defined(HR_HAS_TORCH_PROGRAM)
  const int code = run_processes(arguments.processes, torch_program(), command_line);
  if (code != 0) throw ExitCode{code};
#else
  run_with_torch("train");
#endif
}

#ifdef HR_TORCH
void print_summary(const std::string& out, const Json& summary) {
  const Json& time = summary.at("time");
  const auto text = [&](const char* key) { return summary.at(key).get<std::string>(); };
  fmt::print("trained {} steps in {:.1f} s, last loss {}\n",
             summary.at("steps").get<std::int64_t>(), time.at("wall_s").get<double>(),
             figure(summary.at("loss")));
  if (summary.value("stopped_early", false))
    fmt::print("ended early: no validation was better (train.patience)\n");
  fmt::print("mean Dice {}\n", figure(summary.at("mean_dice")));
  for (const auto& [name, dice] : summary.at("dice").items()) {
    fmt::print("  {:<24} {}\n", name, figure(dice));
  }
  if (summary.at("lesion").is_object()) {
    fmt::print("FROC {}, sensitivity at 1 false positive a scan {}, {} lesions\n",
               figure(summary.at("lesion").at("froc")),
               figure(summary.at("lesion").at("sensitivity_at_1")),
               summary.at("lesion").at("lesions").get<std::int64_t>());
  }
  if (summary.contains("grades")) {
    fmt::print("quadratic kappa {} over {} slides\n", figure(summary.at("kappa")),
               summary.at("grades").get<std::int64_t>());
  }
  fmt::print("{:.1f} patches/s, {:.1f} % of the time waiting for data\n",
             time.at("patches_per_s").get<double>(), time.at("stall_fraction").get<double>() * 100);
  fmt::print("config  {}\ndataset {}\nweights {}\nreport  {}/report.html\n", text("config_hash"),
             text("dataset_hash"), text("weights_sha256"), out);
}
#endif

void run(Arguments arguments) {
  if (arguments.folds > 0 && !arguments.fold) return train_folds(arguments.folds_request());
  if (arguments.processes > 1 && !started_here()) return launch(arguments);
#ifdef HR_TORCH
  set_process_for_torch();
  const ranks::RankInfo rank_info = ranks::RankInfo::from_environment();
  if (rank_info.rank > 0) log::set_level(log::Level::warning);
  auto config = config::RunConfig::load(arguments.config);
  if (arguments.fold) {
    config = config_of_fold(config, arguments.folds_request(), *arguments.fold);
    arguments.out = runs::fold_folder(arguments.out, *arguments.fold).string();
  }
  Trackers trackers(config, arguments.out);
  const auto listen = [&trackers, &rank_info] {
    if (rank_info.rank == 0) trackers.start();
    return std::make_unique<StopSignal>();
  };
  std::optional<train::TrainResult> result;
  try {
    train::TrainOptions options{arguments.out, arguments.resume, code_version(),
                                rank_info,     arguments.init,   listen};
    options.code = code_facts();
    result = train::train(config, options);
  } catch (const train::ToldElsewhere& told) {
    throw ExitCode{exit_code(told.code)};
  }
  if (!result) return;  // another process reports
  trackers.start();     // of a run that had no step left to take
  if (arguments.predictions) predict_validation(arguments.out, config.data.store);
  if (arguments.json) {
    // Of all folds together one object is printed, at the end.
    if (!arguments.fold || !started_here()) fmt::print("{}", dump_json(result->json));
  } else {
    print_summary(arguments.out, result->json);
  }
#else
  run_with_torch("train");
#endif
}

}  // namespace

void add_train(Command app) {
  Command train = app.subcommand("train", "Trains a model on a store and evaluates it.");
  train.footer(kFooter);
  auto arguments = std::make_shared<Arguments>();
  train.option("--config", arguments->config, "run config (YAML)").required();
  train.option("--out", arguments->out, "run folder to make").required();
  train.option("--init", arguments->init,
               "begin with these weights: a run folder (its final ones) or a .safetensors file; "
               "tensors by name and shape, classes by name");
  train.flag("--resume", arguments->resume, "go on with the run in --out");
  train.option("--processes", arguments->processes, "processes that train together on this machine")
      .range(1, ranks::kMaxProcesses)
      .shows_default();
  CommandOption folds =
      train
          .option("--folds", arguments->folds,
                  "cross-validate: train OUT/fold-0, fold-1 … of so many folds of the patients")
          .range(2, 50);
  train.option("--fold", arguments->fold, "of these folds train only this one, from 0")
      .range(0, 49)
      .needs(folds);
  train.flag("--predictions", arguments->predictions,
             "at the end predict the validation images into OUT/predictions, as headrace "
             "predict does: maps to look at beside the annotation");
  train.flag("--json", arguments->json, "print one JSON object");
  train.ending_flag(
      "--keys", print_config_keys,
      "print every key of the run config, with default and what it accepts, and exit");
  train.callback([arguments] { run(*arguments); });
}

}  // namespace headrace::cli
