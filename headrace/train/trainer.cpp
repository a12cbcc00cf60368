#include "headrace/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/loader/decode_choice.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/ranks/part_sum.hpp"
#include "headrace/train/baseline_file.hpp"
#include "headrace/train/evaluate.hpp"
#include "headrace/train/network.hpp"
#include "headrace/train/progressed.hpp"
#include "headrace/train/run_files.hpp"
#include "headrace/train/run_folder.hpp"
#include "headrace/train/run_identity.hpp"
#include "headrace/train/schedule.hpp"
#include "headrace/train/stop_signal.hpp"

namespace headrace::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMontagePatches = 8;
constexpr const char* kFinal = "final.safetensors";
constexpr const char* kBest = "best.safetensors";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What each process tells the others at every step.
struct StepNote {
  int signal = 0;  ///< the user asked this process to stop
  double data_wait_s = 0, model_s = 0;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

/// One training from its start or resume to its end; or one process's part in it. All do the same,
/// but the first alone writes the run folder and evaluates.
class Training {
 public:
  Training(const loader::RunConfig& config, const TrainOptions& options, ranks::Team& team)
      : config_(config),
        team_(team),
        cohort_(open_cohort(config)),
        network_(config, cohort_->classes().size()),
        plan_(loader::make_training_plan(*cohort_, config)),
        total_steps_(config.train.epochs * config.sampling.batches_per_epoch),
        folder_(open_folder(options)) {}

  Json run();

 private:
  RunFolder open_folder(const TrainOptions& options);
  RunFolder open_own_folder(const TrainOptions& options, const Json& identity) const;
  void check_others(const Json& identity);
  void resume();
  void train_steps();
  void join_sum();
  loader::RunConfig feeding();
  loader::Share share() const;
  StepLosses step(const loader::Batch& batch, double rate);
  StepNote own_note() const;
  void hear(const std::vector<std::string>& notes);
  void take(const StepLosses& losses, double rate);
  void append_step(const StepLosses& losses, double rate);
  void validate();
  void record_validation(const Evaluation& result, Clock::time_point start);
  void checkpoint();
  void stop_if_asked();
  bool has_validation() const;
  Json finish();
  Json time_json() const;

  const loader::RunConfig& config_;
  ranks::Team& team_;
  std::shared_ptr<const source::Cohort> cohort_;
  std::optional<ranks::PartSum> sum_;  ///< where several processes train
  Network network_;
  std::shared_ptr<const loader::SamplePlan> plan_;
  std::int64_t total_steps_;
  Progressed state_;
  RunFolder folder_;
  std::int64_t resumed_at_ = 0;
  std::optional<loader::Loader> loader_;
  std::optional<device::GpuMeter> meter_;  ///< while a GPU trains
  Clock::time_point start_ = Clock::now();
  double step_s_ = 0, exchange_s_ = 0, validate_s_ = 0, checkpoint_s_ = 0, loop_s_ = 0;
  StepNote slowest_;  ///< of the process that waited longest for data
  int asked_ = 0;     ///< the signal by which one of the processes was asked to stop
  loader::StallStats stats_;
  device::GpuUsage usage_;
};

RunFolder Training::open_folder(const TrainOptions& options) {
  // Before there is a folder of a run that can't begin.
  loader::check_decoding_keys(config_, network_.on_gpu() && config_.loader.device != "cpu");
  const Json identity = describe_run(config_, *cohort_, network_, options.code_version);
  check_others(identity);
  if (!team_.first()) {
    team_.meet();  // until the first has made or checked it
    return RunFolder::open(options.out);
  }
  RunFolder folder = open_own_folder(options, identity);
  team_.meet();
  return folder;
}

/// All processes must be ones whose results are the same.
void Training::check_others(const Json& identity) {
  Json mine;
  for (const char* key : {"code_version", "config_hash", "dataset_hash", "runtime", "decoder"}) {
    mine[key] = identity.at(key);
  }
  const std::vector<std::string> all = team_.gather(mine.dump());
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all.front()) continue;
    fail(
        ErrorCode::usage,
        "Process {} would give other results than process 0: {}, there {}. Start all with the same "
        "program, config, store and cores.",
        r, all[r], all.front());
  }
}

RunFolder Training::open_own_folder(const TrainOptions& options, const Json& identity) const {
  if (options.resume) {
    RunFolder folder = RunFolder::open(options.out);
    folder.lock();
    check_same_config(folder.read_json("config.json"), config_.to_json());
    check_same_run(folder.read_json("run.json"), identity);
    return folder;
  }
  RunFolder folder = RunFolder::create(options.out);
  folder.lock();
  folder.write_json("run.json", identity);
  folder.write_json("config.json", config_.to_json());
  return folder;
}

void Training::resume() {
  const auto steps = folder_.checkpoints();
  // The first one's newest checkpoint is everybody's.
  const std::string newest = steps.empty() ? "" : std::to_string(steps.back());
  const std::string chosen = team_.gather(newest).front();
  if (!chosen.empty()) {
    const std::string name = RunFolder::checkpoint_name(std::stoll(chosen));
    const std::string origin = folder_.describe(name);
    state_ = Progressed::load(network_.restore(folder_.read(name), origin), origin);
    resumed_at_ = state_.step;
    log::info("resuming at step {} of {}", state_.step, total_steps_);
  }
  if (team_.first()) folder_.rewind_metrics(state_.step);
}

Json Training::time_json() const {
  const std::int64_t steps = state_.step - resumed_at_;
  const auto patches = static_cast<double>(steps * config_.sampling.batch);
  const double feeding_s = slowest_.model_s + slowest_.data_wait_s;
  Json time = {{"wall_s", seconds_since(start_)},
               {"loop_s", loop_s_},
               {"processes", team_.size()},
               {"model_s", slowest_.model_s},
               {"data_wait_s", slowest_.data_wait_s},
               {"stall_fraction", feeding_s > 0 ? slowest_.data_wait_s / feeding_s : 0},
               {"exchange_s", exchange_s_},
               {"validate_s", validate_s_},
               {"checkpoint_s", checkpoint_s_},
               {"patches_per_s", feeding_s > 0 ? patches / feeding_s : 0},
               {"resumed_at", resumed_at_},
               {"loader",
                {{"read_s", stats_.read_s},
                 {"decode_s", stats_.decode_s},
                 {"transform_s", stats_.transform_s},
                 {"copy_s", stats_.copy_s},
                 {"device_decode_s", stats_.device_decode_s},
                 {"device_transform_s", stats_.device_transform_s},
                 {"decoded_by", stats_.decoded_by},
                 {"left_to_cpu", stats_.left_to_cpu},
                 {"read_by", stats_.read_by},
                 {"model_wait_s", stats_.model_wait_s},
                 {"bytes_read", stats_.bytes_read},
                 {"threads", config_.loader.threads}}}};
  const device::GpuUsage usage = meter_ ? meter_->usage() : usage_;
  if (usage.samples > 0) {
    time["gpu"] = {{"device", usage.device},
                   {"busy", usage.busy_percent / 100},
                   {"memory_busy", usage.memory_busy_percent / 100},
                   {"memory_used_bytes", usage.memory_used_bytes}};
  } else if (!usage.not_measured.empty()) {
    time["gpu"] = {{"not_measured", usage.not_measured}};
  }
  return time;
}

void Training::take(const StepLosses& losses, double rate) {
  state_.loss += losses.total;
  state_.cross_entropy += losses.cross_entropy;
  state_.dice += losses.dice;
  ++state_.since_log;
  ++state_.step;
  if (state_.step % config_.train.log_every != 0 && state_.step != total_steps_) return;
  state_.last_loss = state_.loss / static_cast<double>(state_.since_log);
  stats_ = loader_->stats();
  if (!sum_) hear({std::string(own_note().bytes())});
  if (team_.first()) append_step(losses, rate);
  state_.loss = state_.cross_entropy = state_.dice = 0;
  state_.since_log = 0;
}

void Training::append_step(const StepLosses& losses, double rate) {
  const auto count = static_cast<double>(state_.since_log);
  folder_.append_metrics({{"step", state_.step},
                          {"epoch", (state_.step - 1) / config_.sampling.batches_per_epoch},
                          {"loss", state_.last_loss},
                          {"cross_entropy", state_.cross_entropy / count},
                          {"soft_dice", state_.dice / count},
                          {"learning_rate", rate},
                          {"gradient_norm", losses.gradient_norm},
                          {"time", time_json()}});
}

void Training::validate() {
  const Clock::time_point start = Clock::now();
  if (team_.first()) {
    record_validation(evaluate(network_, cohort_, config_, {config_.data.val, 0, false}, &team_),
                      start);
  } else {
    help_evaluate(network_, cohort_, config_, config_.data.val, team_);
  }
  validate_s_ += seconds_since(start);
}

void Training::record_validation(const Evaluation& result, Clock::time_point start) {
  const Json& overall = result.json.at("overall");
  Json figures = {{"mean_dice", overall.at("mean_dice")}, {"dice", overall.at("dice")}};
  if (config_.task == "gleason") figures["kappa"] = kappa_of(result.json);
  for (const char* key : {"surface_dice", "hd95"}) {
    if (overall.contains(key)) figures[key] = overall.at(key);
  }
  const Json lesion = lesion_of(result.json);
  if (!lesion.is_null()) figures["lesion"] = lesion;
  if (!has_validation()) {
    folder_.append_metrics({{"step", state_.step},
                            {"epoch", (state_.step - 1) / config_.sampling.batches_per_epoch},
                            {"validation", figures},
                            {"time", {{"wall_s", seconds_since(start)}}}});
  }
  if (result.mean_dice <= state_.best_dice) return;
  state_.best_dice = result.mean_dice;
  state_.best_step = state_.step;
  folder_.write(kBest, network_.weights({{"step", std::to_string(state_.step)}}));
}

void Training::checkpoint() {
  if (!team_.first()) return;
  const Clock::time_point start = Clock::now();
  folder_.put_checkpoint(state_.step, network_.checkpoint(state_.save()));
  checkpoint_s_ += seconds_since(start);
}

void Training::stop_if_asked() {
  if (!sum_) asked_ = StopSignal::received();
  if (asked_ == 0) return;
  const auto steps = folder_.checkpoints();
  if (steps.empty() || steps.back() != state_.step) checkpoint();
  team_.meet();  // none ends before the first has written it
  fail(ErrorCode::cancelled,
       "Stopped by {} after step {} of {}; {} holds the state. Run the same command with --resume "
       "to "
       "go on.",
       StopSignal::name(asked_), state_.step, total_steps_,
       folder_.describe(RunFolder::checkpoint_name(state_.step)));
}

/// Memory for the gradients of all processes, where there are several.
void Training::join_sum() {
  if (team_.size() == 1) return;
  sum_.emplace(team_, config_.train.gradient_parts,
               static_cast<std::size_t>(network_.gradient_floats()), Network::kPartValues,
               std::max(1, config_.train.threads));
  if (network_.on_gpu()) network_.pin(sum_->memory());
}

/// What this process's loader is told: where batches are made, and how many threads make them.
loader::RunConfig Training::feeding() {
  loader::RunConfig out = config_;
  if (out.loader.device == "auto") out.loader.device = network_.on_gpu() ? "cuda" : "cpu";
  const int cores = ranks::share_of_cores(team_);
  if (out.loader.threads == 0) out.loader.threads = cores;
  return out;
}

loader::Share Training::share() const {
  const std::int64_t samples = config_.sampling.batch / config_.train.gradient_parts;
  const auto parts = ranks::parts_of(config_.train.gradient_parts, team_.rank(), team_.size());
  return {parts.first * samples, parts.count * samples};
}

StepNote Training::own_note() const {
  return {StopSignal::received(), loader_->stats().data_wait_s, step_s_};
}

void Training::hear(const std::vector<std::string>& notes) {
  slowest_ = {};
  for (const std::string& text : notes) {
    StepNote note;
    std::memcpy(&note, text.data(), sizeof note);
    asked_ = std::max(asked_, note.signal);
    if (note.data_wait_s >= slowest_.data_wait_s) slowest_ = note;
  }
}

StepLosses Training::step(const loader::Batch& batch, double rate) {
  if (!sum_) return network_.step(batch, rate);
  network_.put_parts(batch, *sum_);
  const Clock::time_point start = Clock::now();
  hear(sum_->sum(own_note().bytes()));
  exchange_s_ += seconds_since(start);
  return network_.finish_step(*sum_, rate);
}

void Training::train_steps() {
  const StopSignal stop;
  const std::int64_t per_epoch = config_.sampling.batches_per_epoch;
  std::optional<Progress> progress;
  if (team_.first()) {
    progress.emplace("train", static_cast<std::uint64_t>(total_steps_), "steps");
    progress->advance(static_cast<std::uint64_t>(state_.step));
  }
  if (network_.on_gpu()) meter_.emplace(device::cuda::pci_bus_id());
  join_sum();
  loader_.emplace(cohort_, feeding(), plan_, /*with_labels=*/true,
                  static_cast<std::uint64_t>(state_.step / per_epoch),
                  static_cast<std::uint64_t>(state_.step % per_epoch), std::nullopt, share());
  const Clock::time_point start = Clock::now();
  while (state_.step < total_steps_) {
    const double rate = learning_rate(config_.train, state_.step, total_steps_);
    StepLosses losses;
    {
      const auto batch = loader_->next();
      const Clock::time_point step_start = Clock::now();
      losses = step(*batch, rate);
      step_s_ += seconds_since(step_start);
    }
    take(losses, rate);
    if (progress) progress->advance();
    const bool epoch_ends = state_.step % per_epoch == 0;
    const std::int64_t every = config_.train.validate_every;
    const bool last = state_.step == total_steps_;  // whose validation is the final evaluation
    if (epoch_ends && !last && every > 0 && (state_.step / per_epoch) % every == 0) validate();
    if (last || state_.step % config_.train.checkpoint_every == 0) checkpoint();
    stop_if_asked();
  }
  loop_s_ = seconds_since(start);
  stats_ = loader_->stats();
  hear(team_.gather(own_note().bytes()));
  loader_.reset();
  if (meter_) usage_ = meter_->usage();
  meter_.reset();
}

/// Whether metrics.jsonl has the validation of this step: so when a finished run is resumed again.
bool Training::has_validation() const {
  const std::vector<Json> lines = folder_.metrics();
  return !lines.empty() && lines.back().contains("validation") &&
         lines.back().at("step").get<std::int64_t>() == state_.step;
}

Json Training::finish() {
  const std::string weights = network_.weights({{"step", std::to_string(state_.step)},
                                                {"config_hash", config_.hash()},
                                                {"dataset_hash", cohort_->dataset_hash()}});
  folder_.write(kFinal, weights);
  const Clock::time_point start = Clock::now();
  const Evaluation result = evaluate(
      network_, cohort_, config_,
      {config_.data.val, kMontagePatches, true, keep_baseline(folder_, *cohort_, config_)}, &team_);
  write_evaluation(folder_, "eval", result);
  record_validation(result, start);
  Json time = time_json();
  time["evaluate"] = result.json.at("time");
  Json summary = {{"steps", state_.step},
                  {"loss", state_.last_loss},
                  {"mean_dice", result.json.at("overall").at("mean_dice")},
                  {"dice", result.json.at("overall").at("dice")},
                  {"kappa", kappa_of(result.json)},
                  {"lesion", lesion_of(result.json)},
                  {"best", {{"step", state_.best_step}, {"mean_dice", state_.best_dice}}},
                  {"weights_sha256", sha256_hex(weights)},
                  {"config_hash", config_.hash()},
                  {"dataset_hash", cohort_->dataset_hash()},
                  {"time", time}};
  if (config_.task == "gleason") {
    summary["grades"] = result.json.at("overall").at("gleason").at("slides");
  }
  folder_.write_json("summary.json", summary);
  write_report(folder_);
  return summary;
}

Json Training::run() {
  resume();
  if (state_.step < total_steps_) train_steps();
  if (team_.first()) return finish();
  help_evaluate(network_, cohort_, config_, config_.data.val, team_);
  team_.meet();  // until the first has finished, or failed
  return nullptr;
}

/// Runs `body`; its error is the others' as well, and one process tells it.
template <typename Body>
Json with_team(ranks::Team& team, const Body& body) {
  const auto end = [&](ErrorCode code, const char* text) {
    team.fail(code, text);
    if (!team.speaks()) throw ToldElsewhere{code};
  };
  try {
    return body();
  } catch (const Error& error) {
    end(error.code(), error.what());
    throw;
  } catch (const std::exception& error) {
    end(ErrorCode::internal, error.what());
    throw;
  }
}

}  // namespace

Json train(const loader::RunConfig& config, const TrainOptions& options) {
  namespace fs = std::filesystem;
  ranks::Team team =
      ranks::Team::join(options.place, fs::absolute(options.out).lexically_normal().string());
  return with_team(team, [&] {
    ranks::check_parts(config.train.gradient_parts, team.size());
    const loader::RunConfig own =
        options.resume ? with_own_version(config, RunFolder::open(options.out)) : config;
    return Training(own, options, team).run();
  });
}

Json evaluate_run(const EvalRequest& request) {
  RunFolder folder = RunFolder::open(request.run);
  const Json run = folder.read_json("run.json");
  const Json stored = folder.read_json("config.json");
  loader::RunConfig config =
      loader::RunConfig::parse(stored.dump(), folder.describe("config.json"));
  config.data.store = request.store.empty() ? run.at("store").get<std::string>() : request.store;
  if (!request.store.empty()) config.data.expect_hash.reset();
  // Its own store by the version that it was trained on, whatever versions have come since.
  config.data.version = request.store.empty() ? run.at("dataset_hash").get<std::string>() : "";
  const std::string split = request.split.empty() ? config.data.val : request.split;
  const auto cohort = open_cohort(config);
  const Json classes = cohort->classes();
  if (classes != run.at("classes")) {
    fail(ErrorCode::usage, "{} has the classes {}, but the run was trained on {}.",
         config.data.store, classes.dump(), run.at("classes").dump());
  }
  Network network(config, cohort->classes().size());
  const std::string name = request.weights == "best" ? kBest : kFinal;
  if (!folder.has(name)) {
    fail(ErrorCode::not_found,
         "{} is missing; the training has not come that far. Finish it with "
         "headrace train --resume.",
         folder.describe(name));
  }
  const std::vector<std::byte> bytes = folder.read(name);
  network.load_weights(bytes, folder.describe(name));
  Evaluation result =
      evaluate(network, cohort, config,
               {split, kMontagePatches, true, read_baseline(folder, cohort->classes())});
  result.json["weights"] = request.weights;
  result.json["weights_sha256"] = sha256_hex(bytes);
  result.json["store"] = std::filesystem::path(config.data.store).filename().string();
  const std::string& hash = cohort->dataset_hash();
  const bool own =
      request.weights == "final" && split == config.data.val && run.at("dataset_hash") == hash;
  write_evaluation(
      folder,
      own ? "eval" : fmt::format("eval-{}-{}-{}", request.weights, split, hash.substr(0, 12)),
      result);
  write_report(folder);
  return result.json;
}

}  // namespace headrace::train
