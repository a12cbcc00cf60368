#include "headrace/train/trainer.hpp"

#include <filesystem>

#include "headrace/ranks/part_sum.hpp"
#include "headrace/train/run_identity.hpp"
#include "headrace/train/training.hpp"

namespace headrace::train {
namespace {

/// Runs `body`; its error also ends the others, and one process reports it.
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

}  // namespace headrace::train
