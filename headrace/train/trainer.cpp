#include "headrace/train/trainer.hpp"

#include <filesystem>

#include "headrace/ranks/ordered_all_reduce.hpp"
#include "headrace/train/run/run_identity.hpp"
#include "headrace/train/training.hpp"

namespace headrace::train {
namespace {

/// Runs `body`; its error also ends the others, and one process reports it.
template <typename Body>
Json with_team(ranks::ProcessGroup& process_group, const Body& body) {
  const auto end = [&](ErrorCode code, const char* text) {
    process_group.fail(code, text);
    if (!process_group.reports()) throw ToldElsewhere{code};
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
  ranks::ProcessGroup process_group = ranks::ProcessGroup::join(
      options.rank_info, fs::absolute(options.out).lexically_normal().string());
  return with_team(process_group, [&] {
    ranks::check_parts(config.train.gradient_parts, process_group.size());
    const loader::RunConfig own =
        options.resume ? with_own_version(config, RunFolder::open(options.out)) : config;
    return Training(own, options, process_group).run();
  });
}

}  // namespace headrace::train
