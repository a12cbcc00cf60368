#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/fields.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/loss_kind.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "learn/config/python_function.hpp"
#include "learn/config/run_options.hpp"
#include "learn/measure/gate.hpp"

namespace headrace::config {

/// RUN.yaml (docs/runbook.md has every key): what decides batches, and what is trained and judged
/// with them. Everything but `task` and `data.store` has a default.
///
/// The keys train.amp, eval.overlap and eval.batch are the loader's too: they are members of
/// `loader` and `tiles`.
struct RunConfig : loader::LoaderConfig {
  struct Model {
    /// `auto` is resolved to it, widths, strides and kernels.
    NetworkName name = NetworkName::unet2d;
    std::vector<int> widths{32, 64, 128, 256};
    /// By level and axis (network_plan.hpp). Empty: 2 (the first 1) and 3 throughout.
    std::vector<std::vector<int>> strides, kernels;
    PythonFunction own;  ///< in place of all of the above
  } model;
  struct Train {
    std::int64_t epochs = 10;
    double lr = 1e-3, weight_decay = 1e-2;
    Schedule schedule = Schedule::cosine;
    bool deterministic = true;  ///< on a GPU: the same bytes from run to run
    /// Every batch is trained on in this many equal parts, one after the other or each in its own
    /// process; the step's gradient is the mean of theirs.
    std::int64_t gradient_parts = 1;
    std::int64_t checkpoint_every = 500;  ///< steps
    int threads = 0;                ///< LibTorch's intra-op threads; part of the result's identity
    std::int64_t warmup_steps = 0;  ///< the learning rate rises linearly over these
    double clip_norm = 1.0;         ///< of the whole gradient; 0: no clipping
    double dice_weight = 1.0;       ///< loss = cross-entropy + dice_weight · (1 - soft Dice)
    std::vector<double> class_weights;  ///< of the cross-entropy, one for each class; empty: all 1
    std::int64_t log_every = 10;        ///< steps between lines of metrics.jsonl
    std::int64_t validate_every = 1;    ///< epochs; 0: only after the last
    double ema = 0;  ///< decay of the average of weights that is evaluated and kept; 0: none
    /// Beginnings of names of tensors that are not trained (model/parameters.hpp).
    std::vector<std::string> freeze;
    LossKind loss;                 ///< pixel + dice_weight · (1 - region)
    PythonFunction own_loss;       ///< in place of it, dice_weight and class_weights
    PythonFunction own_optimiser;  ///< in place of AdamW and weight_decay
    /// Validations in a row that are not better by more than min_delta, after which training ends;
    /// 0: it never ends early.
    std::int64_t patience = 0;
    double min_delta = 0;
    struct Best {
      std::string figure;  ///< as eval.json names it; empty: the mean Dice (evaluate.hpp)
      BestOver over = BestOver::overall;
      BetterWhen better = BetterWhen::automatic;
    } best;                             ///< by which validations are compared
    std::int64_t keep_checkpoints = 2;  ///< the newest
  } train;
  struct Eval {
    TileWindow window = TileWindow::gaussian;
    /// grading: part of the tissue that must be cancer for a slide to have any
    double min_cancer = 0.02;
    double min_area = 0.05;  ///< grading: part of the cancer that a pattern needs to count
    Specimen grading = Specimen::biopsy;  ///< grading
    /// grading, biopsy: part of the cancer from which a grade above the most common one counts
    double min_higher = 0.01;
    /// slides: classes that are tumour; empty: the Gleason patterns, or every class above 0
    std::vector<std::string> tumour_classes;
    /// Resamples of the cases for the intervals of every figure; 0: none
    std::int64_t bootstrap = 0;
    double surface_tolerance_mm = 2;  ///< volumes: of surface Dice
    /// lesions: hits and false positives count calls from here
    double lesion_probability = 0.5;
    double lesion_lowest = 0.1;   ///< lesions: lowest score of a call, where FROC ends
    double lesion_min_mm3 = 50;   ///< lesions: smaller calls are dropped
    double lesion_overlap = 0.1;  ///< lesions: IoU from which a call hits a lesion
    std::vector<double> lesion_diameters_mm{6, 10, 20};  ///< lesions: between sizes; ascending
    double specificity = 0.9;  ///< at which the sensitivity for slides and cases is read off
    std::vector<std::string> lesion_classes;  ///< lesions; empty: every class above 0
    std::int64_t subset = 0;                  ///< images of the validations during training; 0: all
  } eval;
  measure::Gate gates;  ///< figures that the run must reach to be promoted
  /// A tracker that the run is sent to while it trains (headrace track); empty text: not given.
  struct Tracker {
    TrackerKind to = TrackerKind::mlflow;
    std::string url, folder, experiment = "headrace", name;
    std::vector<std::string> fields;  ///< what may be sent by name: cohorts, scanners, phases
    bool pictures = false;
    std::string ca_file;
    std::int64_t wait_s = 600;  ///< after the run's end, for a server that fails

    /// Of its files in the run folder's tracking/.
    std::string file_name() const { return name.empty() ? std::string(name_of(to)) : name; }
  };
  std::vector<Tracker> tracking;

  /// Errors: usage, with file, line, key and the nearest valid key or value.
  static RunConfig load(const std::string& file);
  /// The same, without use_network: nothing of it holds for this process. Errors: those of load.
  static RunConfig read(const std::string& file);
  static RunConfig parse(const std::string& text, const std::string& name);
  /// In full, with defaults.
  Json to_json() const;
  /// The entries of `tracking`, as headrace track takes them.
  Json tracking_json() const;
  /// Every key that a config may have, with the defaults of slides or volumes.
  static std::vector<KeyFacts> keys(bool volumes);
  /// Whether a key ("loader.threads") changes neither batches nor weights: the dataset's place and
  /// name (its hash decides), and keys for the speed of loading.
  static bool decides_nothing(const std::string& key);
  /// SHA-256 of what decides the result: to_json without keys that decide nothing, and without some
  /// keys where they change nothing (`hashed_if` in run_config_*.cpp), so that a run of before the
  /// key existed keeps its hash.
  std::string hash() const;
};

}  // namespace headrace::config
