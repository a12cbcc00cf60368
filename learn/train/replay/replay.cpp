#include "learn/train/replay/replay.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json_changes.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/train/replay/final_comparison.hpp"
#include "learn/train/trainer.hpp"

namespace headrace::train {
namespace {

namespace fs = std::filesystem;
using What = ReplayDifference::What;

/// The run's version, where the store has it; else empty, the current one, and the replay says that
/// the data differ.
std::string version_in(const std::string& path, const std::string& wanted) {
  const auto log = cohort::StoreHead::load(*storage::open_store(storage::Place::parse(path))).log;
  const bool has = std::any_of(log.begin(), log.end(),
                               [&](const auto& commit) { return commit.version == wanted; });
  return has ? wanted : "";
}

/// Where the run's store lies.
std::string store_of(const ReplayRequest& request, const RecordedRun& recorded) {
  const std::string path = request.store.empty() ? recorded.run.value("store", "") : request.store;
  if (storage::Place::parse(path).is_url() || fs::is_directory(path)) return path;
  fail(ErrorCode::not_found, "The store of the run, {}, is not there. Say where it lies now by {}.",
       path, Option{"store"});
}

config::RunConfig config_of(const ReplayRequest& request, const RecordedRun& recorded,
                            const std::string& store) {
  config::RunConfig config = request.config.empty()
                                 ? config::RunConfig::parse(recorded.config.dump(),
                                                            recorded.folder.describe("config.json"))
                                 : config::RunConfig::load(request.config);
  config.data.store = store;
  config.data.expect_hash.reset();  // another dataset is a difference to be named
  if (request.config.empty() || config.data.version.empty())
    config.data.version = version_in(config.data.store, recorded.run.value("dataset_hash", ""));
  return config;
}

/// The weights that the run began with; empty: the seed's.
std::string first_weights(const ReplayRequest& request, const RecordedRun& recorded) {
  const Json init = recorded.run.value("init", Json());
  if (init.is_null()) {
    if (request.init.empty()) return "";
    fail(ErrorCode::usage, "{} did not begin with other weights. Leave {} out.", request.run,
         Option{"weights_from_init"});
  }
  const std::string file = request.init.empty() ? init.at("file").get<std::string>() : request.init;
  if (fs::exists(file)) return file;
  fail(ErrorCode::not_found,
       "{} began with the weights {} of SHA-256 {}, and {} is not there. Say where they lie now by "
       "{}.",
       request.run, init.at("file").get<std::string>(), init.at("sha256").get<std::string>(), file,
       Option{"weights_from_init"});
}

/// The step after which the replay ends; 0: with the training.
std::int64_t last_step(const ReplayRequest& request, const RecordedRun& recorded,
                       ReplayResult& result) {
  const std::int64_t last = recorded.last_step();
  if (last == 0) {
    fail(ErrorCode::not_found,
         "{} records no step yet, in steps.jsonl or metrics.jsonl: there is nothing to compare.",
         request.run);
  }
  if (request.full && recorded.finished) return 0;
  if (request.full) {
    result.notes.push_back(fmt::format(
        "The run has not come to its end: only its {} recorded steps can be replayed.", last));
    return last;
  }
  const std::int64_t wanted = std::min(request.steps, last);
  if (!recorded.steps.empty() && recorded.steps.begin()->first <= wanted) return wanted;
  // Nothing is recorded up to there but, with some luck, a mean.
  return recorded.means.empty() ? wanted : std::max(wanted, recorded.means.begin()->first);
}

/// Errors of objects that are damaged or gone.
bool is_of_data(ErrorCode code) {
  return code == ErrorCode::corrupt || code == ErrorCode::malformed || code == ErrorCode::not_found;
}

bool names(const Error& error, const std::string& file) {
  return !file.empty() && std::string_view(error.what()).find(file) != std::string_view::npos;
}

/// LibTorch's threads of the run, unless the config used asks for others than the run's did.
int threads_of(const RecordedRun& recorded, const config::RunConfig& config) {
  const Json train = recorded.started_with().value("train", Json::object());
  if (train.value("threads", config.train.threads) != config.train.threads) return 0;
  return recorded.run.value("runtime", Json::object()).value("threads", 0);
}

/// A config.json that can't be trained by, and is not what the run was trained by, is the reason.
void refuse_changed_config(const RecordedRun& recorded, const Error& error) {
  std::vector<std::string> texts;
  for (const JsonChange& change : changes_between(recorded.judged_with(), recorded.config)) {
    if (!config::RunConfig::decides_nothing(change.key)) texts.push_back(change.text("now"));
  }
  if (texts.empty()) return;
  fail(ErrorCode::corrupt, "{} is not what the run was trained by ({}), and can't be: {}",
       recorded.folder.describe("config.json"), fmt::join(texts, "; "), error.what());
}

TrainOptions options_of(const ReplayRequest& request, const RecordedRun& recorded) {
  const Json runtime = recorded.run.value("runtime", Json::object());
  TrainOptions options;
  options.out = request.scratch;
  options.code_version = request.code_version;
  options.code = request.code;
  options.init = first_weights(request, recorded);
  options.threads = request.threads;
  options.cpu_only = runtime.value("device", "") == "cpu";
  options.steps_only = !request.full;
  return options;
}

}  // namespace

ReplayResult replay(const ReplayRequest& request) {
  const RecordedRun recorded =
      RecordedRun::read(request.run, request.full ? INT64_MAX : request.steps);
  ReplayResult result;
  result.store = store_of(request, recorded);
  result.by_means = recorded.steps.empty();
  TrainOptions options = options_of(request, recorded);
  StepComparison comparison(recorded, last_step(request, recorded, result), result, request.say);
  options.watcher = &comparison;
  try {
    const config::RunConfig config = config_of(request, recorded, result.store);
    if (request.threads == 0) options.threads = threads_of(recorded, config);
    result.known = config_differences(recorded, config);
    result.dataset_hash = config.data.version;
    result.total_steps = config.train.epochs * config.sampling.batches_per_epoch;
    train(config, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage && request.config.empty())
      refuse_changed_config(recorded, error);
    if (names(error, options.init) || names(error, request.config)) throw;
    if (is_of_data(error.code())) {
      result.difference =
          ReplayDifference{What::data, comparison.last(), error.what(), {}, {}, false};
    } else if (error.code() == ErrorCode::diverged) {
      result.difference =
          ReplayDifference{What::loss, comparison.last() + 1, "", "a number", error.what(), false};
    } else {
      throw;
    }
  }
  if (request.full && recorded.finished && !result.difference)
    compare_results(recorded, runs::RunFolder::open(request.scratch), result);
  return result;
}

}  // namespace headrace::train
