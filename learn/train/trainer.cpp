#include "learn/train/trainer.hpp"

#include <filesystem>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/model/torch_errors.hpp"
#include "learn/ranks/ordered_all_reduce.hpp"
#include "learn/train/run/run_identity.hpp"
#include "learn/train/training.hpp"

namespace headrace::train {
namespace {

/// Runs `body`; its error also ends the others, and one process reports it.
template <typename Body>
std::optional<TrainResult> with_team(ranks::ProcessGroup& process_group, const Body& body) {
  const auto end = [&](ErrorCode code, const char* text) {
    process_group.fail(code, text);
    if (!process_group.reports()) throw ToldElsewhere{code};
  };
  try {
    return model::in_words(body);
  } catch (const Error& error) {
    end(error.code(), error.what());
    throw;
  } catch (const std::exception& error) {
    end(ErrorCode::internal, error.what());
    throw;
  }
}

std::optional<double> figure_of(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// Nothing of null: the summary of a process that is not the first.
std::optional<TrainResult> result_of(Json summary) {
  if (summary.is_null()) return std::nullopt;
  TrainResult result;
  result.steps = summary.at("steps").get<std::int64_t>();
  result.loss = summary.at("loss").get<double>();
  for (const auto& [name, dice] : summary.at("dice").items()) result.dice[name] = figure_of(dice);
  result.mean_dice = figure_of(summary.at("mean_dice"));
  result.kappa = figure_of(summary.at("kappa"));
  result.best_step = summary.at("best").at("step").get<std::int64_t>();
  result.best_mean_dice = figure_of(summary.at("best").at("mean_dice"));
  result.weights_sha256 = summary.at("weights_sha256").get<std::string>();
  result.config_hash = summary.at("config_hash").get<std::string>();
  result.dataset_hash = summary.at("dataset_hash").get<std::string>();
  result.json = std::move(summary);
  return result;
}

}  // namespace

std::optional<TrainResult> train(const config::RunConfig& config, const TrainOptions& options) {
  namespace fs = std::filesystem;
  ranks::ProcessGroup process_group = ranks::ProcessGroup::join(
      options.rank_info, fs::absolute(options.out).lexically_normal().string());
  return with_team(process_group, [&] {
    ranks::check_parts(config.train.gradient_parts, process_group.size());
    if (options.resume && !runs::RunFolder::holds_run(options.out)) {
      fail(ErrorCode::not_found,
           "{} holds no run to go on with. If its training was stopped before it had begun, give "
           "the same command without {}.",
           options.out, Option{"resume"});
    }
    const config::RunConfig own =
        options.resume ? with_own_version(config, runs::RunFolder::open(options.out)) : config;
    return result_of(Training(own, options, process_group).run());
  });
}

}  // namespace headrace::train
