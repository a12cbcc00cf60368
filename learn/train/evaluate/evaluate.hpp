#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/pixels/image.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/ranks/process_group.hpp"
#include "learn/train/evaluate/baseline.hpp"
#include "learn/train/evaluate/examples.hpp"

namespace headrace::train {

/// Pictures of one patch for the report: for slides the model's input ("input"), the truth and the
/// prediction; for volumes three planes with both drawn in.
struct MontagePatch {
  struct Picture {
    std::string name;
    pixels::Image8 pixels;
  };
  std::string image;
  std::array<std::int64_t, 3> tile_zyx{};
  std::vector<Picture> pictures;
};

struct Evaluation {
  Json json;  ///< eval.json (docs/formats.md, "Run folder")
  std::vector<MontagePatch> montage;
  std::vector<ExamplePictures> examples;  ///< the worst and the best images
  loader::StallStats loader;
  /// Mean Dice over the classes but background, by which the best weights are chosen; for slides
  /// whose labels do not distinguish classes, the tumour's Dice; none where that is undefined.
  std::optional<double> mean_dice;

  void add_example(const ExampleKeeper::Example& of, ExamplePictures pictures);
};

struct EvaluateOptions {
  std::string split;
  std::size_t montage = 0;  ///< how many patches to keep; 0: no pictures at all
  bool intervals = true;    ///< also the bootstrap intervals that config.eval asks for
  /// Evaluated beside the network, under "baseline"; null: nothing is.
  std::shared_ptr<const Baseline> baseline = nullptr;
  /// The run's preprocessing; null: fitted on the cohort's own training split.
  std::shared_ptr<const loader::Preprocessing> preprocessing = nullptr;
  /// Asked after each batch, in each process of a group: the signal by which the evaluation is to
  /// be left, or 0. Empty: nothing stops it.
  std::function<int()> asked_to_stop = {};
};

/// Thrown where asked_to_stop says so, by all processes of a group at the same batch.
struct EvaluationStopped {
  int signal;
};

/// Runs the network over every tile of a split through the loader (no random transforms), blends
/// the overlapping tiles, and compares with the annotation.
///
/// Pixels count that are annotated and under a tile (tiles cover the tissue); for volumes all
/// annotated voxels of level 0 count. Class 0 is background: it has its own Dice, which is not part
/// of the mean. For slides there are figures for the split, each cohort, scanner and image, and for
/// task grading also a grade for each slide and kappa; for volumes see measure::VolumeMetrics.
/// errors  usage (no image in the split; classes without a Gleason pattern), those of the loader
/// With a group, call it in its first process: the others, in help_evaluate, predict all but every
/// size-th batch of tiles. The figures are the same to the last bit. Throws EvaluationStopped.
Evaluation evaluate(inference::Network& network,
                    const std::shared_ptr<const cohort::Cohort>& cohort,
                    const config::RunConfig& config, const EvaluateOptions& options,
                    ranks::ProcessGroup* process_group = nullptr);

/// What one batch of an evaluation costs.
struct TriedEvaluation {
  double network_s = 0;       ///< without waiting for data
  std::uint64_t batches = 0;  ///< of the whole evaluation
};
/// The first batch of an evaluation through loader and network, in the places and with the memory
/// that `evaluate` would take, so that what does not work shows before a training; in each process
/// of a group. options.preprocessing is given. Errors: those of evaluate.
TriedEvaluation try_evaluation(inference::Network& network,
                               const std::shared_ptr<const cohort::Cohort>& cohort,
                               const config::RunConfig& config, const EvaluateOptions& options,
                               ranks::ProcessGroup& process_group);

/// What the other processes of a group do while the first evaluates this split.
void help_evaluate(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                   const config::RunConfig& config, const EvaluateOptions& options,
                   ranks::ProcessGroup& process_group);

}  // namespace headrace::train
