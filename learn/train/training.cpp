#include "learn/train/training.hpp"

#include <algorithm>
#include <csignal>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/loader/plan/decode_choice.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/measure/figure_table.hpp"
#include "learn/model/safetensors.hpp"
#include "learn/runs/weights_identity.hpp"
#include "learn/train/evaluate/baseline_file.hpp"
#include "learn/train/evaluate/run_files.hpp"
#include "learn/train/evaluate/validation_subset.hpp"
#include "learn/train/feeding.hpp"
#include "learn/train/init_weights.hpp"
#include "learn/train/preflight.hpp"
#include "learn/train/rehearsal.hpp"
#include "learn/train/run/data_card.hpp"
#include "learn/train/run/run_changes.hpp"
#include "learn/train/run/run_identity.hpp"
#include "learn/train/run/start_record.hpp"
#include "learn/train/run_start.hpp"
#include "learn/train/start_banner.hpp"

namespace headrace::train {
namespace {

/// A GPU is kept busy while the host reads the figures of the step before the last, and starts the
/// next one. Where several processes train, each step goes through the host's memory.
std::size_t read_behind(const TrainOptions& options, const inference::Network& network,
                        const ranks::ProcessGroup& process_group) {
  if (process_group.size() > 1) return 0;
  return options.read_behind.value_or(network.on_gpu() ? 2 : 0);
}

/// As the network is to compute, whatever the recorded config leaves open.
config::RunConfig computed_by(config::RunConfig config, const TrainOptions& options) {
  if (options.threads > 0) config.train.threads = options.threads;
  if (options.cpu_only && config.loader.device == device::DeviceChoice::automatic)
    config.loader.device = device::DeviceChoice::cpu;
  return config;
}

}  // namespace

Training::Training(const config::RunConfig& config, const TrainOptions& options,
                   ranks::ProcessGroup& process_group)
    : config_(config),
      watcher_(options.watcher),
      steps_only_(options.steps_only),
      process_group_(process_group),
      listen_for_stop_(options.listen_for_stop),
      cohort_(open_cohort(config)),
      preprocessing_(std::make_shared<const loader::Preprocessing>(
          loader::Preprocessing::fit(*cohort_, config))),
      network_(computed_by(config, options), cohort_->classes().size(),
               loader::channel_count(*preprocessing_, config)),
      validated_(validation_cohort(cohort_, config)),
      plan_(loader::make_training_plan(*cohort_, config)),
      init_(begin_with_weights(options, cohort_->classes(), network_)),
      total_steps_(config.train.epochs * config.sampling.batches_per_epoch),
      read_behind_(read_behind(options, network_, process_group)),
      folder_(open_folder(options)) {}

runs::RunFolder Training::open_folder(const TrainOptions& options) {
  // So that a run that can't begin makes no folder.
  loader::check_decoding_keys(
      config_, network_.on_gpu() && config_.loader.device != device::DeviceChoice::cpu);
  check_images(*cohort_, config_, *preprocessing_);
  check_same_pixels(*cohort_, config_);
  check_chosen_figure(*validated_, config_);
  identity_ = describe_run(config_, *cohort_, *preprocessing_, network_, options.code_version);
  identity_["init"] = init_;
  identity_["code"] = options.code;
  if (Json own = network_.python_code(); !own.is_null())
    identity_["code"]["python"] = std::move(own);
  if (watcher_ != nullptr) watcher_->begins(identity_, *preprocessing_);
  if (steps_only_) return runs::RunFolder::create(options.out);  // makes nothing
  check_same_everywhere(identity_, process_group_);
  if (!options.resume) prepare(options.out);
  return start_run(config_, *cohort_, *preprocessing_, options, identity_, process_group_);
}

void Training::prepare(const std::string& out) {
  if (process_group_.first()) {
    runs::RunFolder::create(out);  // refuses a folder that is taken; makes nothing
    check_disk(out, network_.checkpoint({}).size(), network_.weights({}).size(),
               config_.train.keep_checkpoints);
    const StartBanner banner = start_banner(config_, *cohort_, network_);
    for (const std::string& line : banner.lines) log::info("{}", line);
    for (const std::string& line : banner.warnings) log::warning("{}", line);
    if (!config_.train.freeze.empty() && init_.is_null()) {
      log::warning("train.freeze without {}: what is frozen keeps its random first values",
                   Option{"init"});
    }
  }
  const Rehearsed cost =
      rehearse(network_, cohort_, config_, plan_, preprocessing_, process_group_);
  process_group_.barrier();  // no process makes a folder before all could take a step
  if (!process_group_.first()) return;
  for (const std::string& line : cost_lines(config_, cost, total_steps_)) log::info("{}", line);
}

Json Training::time_json() {
  if (meter_) times_.gpu = meter_->usage();
  return times_.to_json(state_.step, config_.sampling.batch, process_group_.size(),
                        config_.loader.threads);
}

StepNote Training::own_note(std::uint64_t batch) const {
  const double waited_s = timed_by_stream() ? times_.starved_s : loader_->stats().data_wait_s;
  return {asked_to_stop(), waited_s, times_.step_s, batch};
}

void Training::resume() {
  const auto steps = folder_.checkpoints();
  // All take the newest checkpoint that the first one has.
  const std::string newest = steps.empty() ? "" : std::to_string(steps.back());
  const std::string chosen = process_group_.all_gather(newest).front();
  if (!chosen.empty()) {
    const std::string name = runs::RunFolder::checkpoint_name(std::stoll(chosen));
    const std::string origin = folder_.describe(name);
    state_ = TrainState::load(network_.restore(folder_.read(name), origin), origin);
    times_.resumed_at = state_.step;
    log::info("resuming at step {} of {}", state_.step, total_steps_);
  }
  if (process_group_.first()) {
    folder_.rewind_metrics(state_.step);
    warn_of_lost_lines();
    folder_.append_start(start_record(state_.step, config_, identity_, process_group_.size()));
  }
  const bool as_before = judged_alike(state_.judged_by, config_, folder_.lines(runs::kStarts));
  state_.judged_by = judging_hash(config_);
  if (!as_before) forget_choice();
}

void Training::forget_choice() {
  // A best value by another split or other rules is not comparable.
  state_.best_dice = state_.best_value = std::nullopt;
  state_.best_step = 0;
  keeps_best_ = state_.step == total_steps_ && folder_.has(runs::kBestWeights);
  if (!keeps_best_ || !process_group_.first()) return;
  // The final evaluation, which no checkpoint has seen, may have chosen them.
  const std::string file = folder_.describe(runs::kBestWeights);
  const auto metadata = model::parse_safetensors(folder_.read(runs::kBestWeights), file).metadata;
  if (const auto step = metadata.find("step"); step != metadata.end())
    state_.best_step = std::stoll(step->second);
  log::info("{} stays as it was chosen before, after step {}: no step is left to choose from", file,
            state_.best_step);
}

void Training::warn_of_lost_lines() const {
  if (state_.step == 0 || !folder_.has(runs::kSteps)) return;
  const Json last = folder_.last_line(runs::kSteps);
  const std::int64_t step = last.is_null() ? 0 : last.at("step").get<std::int64_t>();
  if (step >= state_.step) return;
  log::warning(
      "{} ends with step {}, but the newest checkpoint is that of step {}: lines were lost, as in a "
      "power failure. The training goes on with the right weights; a replay can't compare those steps",
      folder_.describe(runs::kSteps), step, state_.step);
}

void Training::take(const Started& started, const inference::StepLosses& losses) {
  state_.loss += losses.total;
  state_.cross_entropy += losses.cross_entropy;
  state_.dice += losses.dice;
  ++state_.since_log;
  if (started.step % config_.train.log_every != 0 && started.step != total_steps_) return;
  state_.last_loss = state_.loss / static_cast<double>(state_.since_log);
  times_.loader = loader_->stats();
  if (!sum_) times_.hear({std::string(own_note().bytes())});
  if (process_group_.first() && !steps_only_) append_step(started, losses);
  state_.loss = state_.cross_entropy = state_.dice = 0;
  state_.since_log = 0;
}

void Training::append_step(const Started& started, const inference::StepLosses& losses) {
  const auto count = static_cast<double>(state_.since_log);
  Json time = time_json();
  time["at"] = utc_seconds();
  write_steps();
  folder_.append_metrics({{"step", started.step},
                          {"epoch", (started.step - 1) / config_.sampling.batches_per_epoch},
                          {"loss", state_.last_loss},
                          {"cross_entropy", state_.cross_entropy / count},
                          {"soft_dice", state_.dice / count},
                          {"learning_rate", started.rate},
                          {"gradient_norm", losses.gradient_norm},
                          {"time", std::move(time)}});
}

EvaluateOptions Training::validation() const {
  return {config_.data.val, 0, false, nullptr, preprocessing_, [this] { return asked_to_stop(); }};
}

bool Training::validate() {
  const Clock::time_point start = Clock::now();
  check_weights();
  try {
    if (process_group_.first()) {
      const Evaluation result =
          evaluate(network_, validated_, config_, validation(), &process_group_);
      record_validation(result, start);
      count_without_improvement(result);
    } else {
      help_evaluate(network_, validated_, config_, validation(), process_group_);
    }
  } catch (const EvaluationStopped& stopped) {
    times_.asked = stopped.signal;
    return false;
  }
  if (config_.train.patience > 0) {
    // Only the first process has the figures, but all end at the same step.
    const std::string count = std::to_string(state_.since_better);
    state_.since_better = std::stoll(process_group_.all_gather(count).front());
  }
  state_.to_validate = false;
  times_.validate_s += seconds_since(start);
  return true;
}

void Training::count_without_improvement(const Evaluation& result) {
  if (config_.train.patience == 0) return;
  const ChosenFigure figure = chosen_figure(result, *validated_, config_);
  // Before the first value there is nothing that could be better or not.
  if (!figure.value && !state_.to_beat) return;
  ++state_.since_better;
  if (!figure.value) return;
  if (state_.to_beat &&
      !is_better(*figure.value, *state_.to_beat, config_.train.min_delta, config_))
    return;
  state_.to_beat = figure.value;
  state_.since_better = 0;
}

bool Training::ends_early() const {
  return config_.train.patience > 0 && state_.since_better >= config_.train.patience;
}

void Training::record_validation(const Evaluation& result, Clock::time_point start) {
  const Json& overall = result.json.at("overall");
  Json figures = Json::object();
  for (const measure::Figure& row : measure::figure_table()) {
    if (row.validation.empty()) continue;
    if (const Json* value = find_at(overall, row.root())) figures[row.validation] = *value;
  }
  const Json lesion = lesion_of(result.json);
  if (!lesion.is_null()) figures["lesion"] = lesion;
  const ChosenFigure chosen = chosen_figure(result, *validated_, config_);
  if (has_chosen_figure(config_)) figures["best_by"] = or_null(chosen.value);
  if (!has_validation()) {
    Json line = {{"step", state_.step},
                 {"epoch", (state_.step - 1) / config_.sampling.batches_per_epoch},
                 {"validation", figures},
                 {"time", {{"wall_s", seconds_since(start)}, {"at", utc_seconds()}}}};
    if (config_.eval.subset > 0) line["of_images"] = result.json.at("images").size();
    folder_.append_metrics(line);
  }
  keep_if_best(result, chosen);
}

void Training::keep_if_best(const Evaluation& result, const ChosenFigure& chosen) {
  if (!chosen.value) {
    log::warning("step {}: {} is undefined for {}, so these weights can't be the best", state_.step,
                 chosen_figure_text(config_), chosen.undefined_in);
    return;
  }
  if (keeps_best_) return;
  if (state_.best_value && !is_better(*chosen.value, *state_.best_value, 0, config_)) return;
  state_.best_value = chosen.value;
  state_.best_dice = result.mean_dice;
  state_.best_step = state_.step;
  folder_.write(runs::kBestWeights, network_.weights({{"step", std::to_string(state_.step)},
                                                      {"classes", class_names()}}));
}

void Training::check_weights() const {
  const std::string diverged = network_.diverged_tensor();
  if (diverged.empty()) return;
  fail(
      ErrorCode::diverged,
      "After step {} tensor {} holds numbers that are not finite. Nothing is kept of these weights. "
      "Lower train.lr, or {} train.clip_norm.",
      state_.step, diverged, config_.train.clip_norm > 0 ? "lower" : "set");
}

void Training::checkpoint() {
  if (!process_group_.first()) return;
  check_weights();
  write_steps();
  const Clock::time_point start = Clock::now();
  TrainState::Metadata metadata = state_.save();
  metadata["classes"] = class_names();
  folder_.put_checkpoint(state_.step, network_.checkpoint(metadata),
                         static_cast<std::size_t>(config_.train.keep_checkpoints));
  times_.checkpoint_s += seconds_since(start);
}

bool Training::has_checkpoint() const {
  const auto steps = folder_.checkpoints();
  return !steps.empty() && steps.back() == state_.step;
}

void Training::stop_if_asked() {
  if (!sum_) times_.asked = asked_to_stop();
  if (times_.asked == 0) return;
  if (!read_steps(0)) return;  // the watcher has ended it
  if (!has_checkpoint()) checkpoint();
  process_group_.barrier();  // no process ends before the first has written it
  fail(ErrorCode::cancelled,
       "Stopped by {} after step {} of {}; {} holds the state. Run the same command with {} "
       "to go on.",
       times_.asked == SIGTERM ? "SIGTERM" : "SIGINT", state_.step, total_steps_,
       folder_.describe(runs::RunFolder::checkpoint_name(state_.step)), Option{"resume"});
}

/// Memory for the gradients of all processes, where there are several.
void Training::join_sum() {
  if (process_group_.size() == 1) return;
  sum_.emplace(process_group_, config_.train.gradient_parts,
               static_cast<std::size_t>(network_.gradient_floats()),
               inference::Network::kPartValues, std::max(1, config_.train.threads));
  if (network_.on_gpu()) network_.pin(sum_->memory());
}

/// Whether metrics.jsonl has the validation of this step already, as when a finished run is resumed
/// again.
bool Training::has_validation() const {
  const Json last = folder_.last_metrics();
  return last.contains("validation") && last.at("step").get<std::int64_t>() == state_.step;
}

Json Training::finish() {
  const std::string weights = network_.weights({{"step", std::to_string(state_.step)},
                                                {"classes", class_names()},
                                                {"config_hash", config_.hash()},
                                                {"dataset_hash", cohort_->dataset_hash()}});
  folder_.write(runs::kFinalWeights, weights);
  const Clock::time_point start = Clock::now();
  Evaluation result = evaluate(network_, cohort_, config_,
                               {config_.data.val, kReportPictures, true,
                                keep_baseline(folder_, *cohort_, config_), preprocessing_},
                               &process_group_);
  const std::string weights_sha256 = runs::weights_identity(std::as_bytes(std::span(weights)),
                                                            folder_.describe(runs::kFinalWeights));
  put_weights(result, "final", weights_sha256, config_, identity_);
  write_evaluation(folder_.path(), "eval", result);
  // Figures of all images are not to be compared with those of some.
  if (config_.eval.subset == 0) record_validation(result, start);
  Json time = time_json();
  time["evaluate"] = result.json.at("time");
  Json summary = {{"steps", state_.step},
                  {"loss", state_.last_loss},
                  {"mean_dice", result.json.at("overall").at("mean_dice")},
                  {"dice", result.json.at("overall").at("dice")},
                  {"kappa", kappa_of(result.json)},
                  {"lesion", lesion_of(result.json)},
                  {"best", {{"step", state_.best_step}, {"mean_dice", or_null(state_.best_dice)}}},
                  {"weights_sha256", weights_sha256},
                  {"config_hash", config_.hash()},
                  {"dataset_hash", cohort_->dataset_hash()},
                  {"time", time}};
  if (has_chosen_figure(config_)) {
    summary["best"]["figure"] = chosen_figure_text(config_);
    summary["best"]["value"] = or_null(state_.best_value);
  }
  if (config_.train.patience > 0) summary["stopped_early"] = state_.step < total_steps_;
  if (config_.task == loader::Task::grading) {
    summary["grades"] = result.json.at("overall").at("gleason").at("slides");
  }
  if (!config_.gates.empty()) summary["gate"] = told_gates(config_.gates, result.json);
  folder_.write_json("summary.json", summary);
  write_report(folder_);
  return summary;
}

Json Training::run() {
  if (!steps_only_) resume();
  if (!steps_only_ && process_group_.first())
    folder_.write_json(kDataCardFile, data_card(*cohort_, config_));
  if (state_.step < total_steps_ && !ends_early()) train_steps();
  if (ended_by_watcher_ || steps_only_) return nullptr;
  if (state_.step < total_steps_ && process_group_.first()) {
    log::info(
        "no better {} in {} validations in a row, the best at step {}: training ends at step {} "
        "of {}",
        chosen_figure_text(config_), config_.train.patience, state_.best_step, state_.step,
        total_steps_);
  }
  // The last step is compared with the others by the same images.
  if (config_.eval.subset > 0 && state_.step == total_steps_) validate();
  if (process_group_.first()) return finish();
  help_evaluate(network_, cohort_, config_, validation(), process_group_);
  process_group_.barrier();  // until the first has finished, or failed
  return nullptr;
}

}  // namespace headrace::train
