// An evaluation of a split, its tiles blended and counted on the host and where the model is: tiles a
// second, and whether every figure is the same. A Markdown table on stdout. Without a GPU a trial on
// the CPU.
//   evaluating FOLDER slides|volumes [small]    the store that `feeding` makes
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/device/commands.hpp"
#include "bench/device/feed_store.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/inference/network.hpp"
#include "headrace/train/evaluate/evaluate.hpp"

namespace headrace::device_bench {
namespace {

/// An evaluation's figures, without the times.
std::string figures_of(train::Evaluation evaluation) {
  evaluation.json.erase("time");
  return evaluation.json.dump();
}

/// The figures of an evaluation; on a GPU one before it warms up. Prints the row.
std::string row(const char* where, const loader::RunConfig& config) {
  setenv("HEADRACE_BLEND", where, /*overwrite=*/1);
  const auto cohort = cohort::Cohort::open(config.data.store, config.data.version);
  const auto preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  inference::Network network(config, cohort->classes().size(),
                             loader::channel_count(*preprocessing, config));
  train::EvaluateOptions options{"val"};
  options.preprocessing = preprocessing;
  if (network.on_gpu()) train::evaluate(network, cohort, config, options);
  const train::Evaluation evaluation = train::evaluate(network, cohort, config, options);
  const auto tiles = evaluation.json.at("tiles").get<std::uint64_t>();
  const Json& time = evaluation.json.at("time");
  const double wall = time.at("wall_s").get<double>();
  const std::string place = std::string(where) == "host" ? "the host" : "the model's device";
  if (network.on_gpu()) {
    fmt::print("| {} | {} | {:.2f} | {:.0f} | {:.1f} % | {} |\n", place, tiles, wall,
               static_cast<double>(tiles) / wall, time.at("data_wait_s").get<double>() / wall * 100,
               evaluation.loader.decoded_by);
  } else {
    fmt::print("| {} | {} | ran | ran | ran | {} |\n", place, tiles, evaluation.loader.decoded_by);
  }
  std::fflush(stdout);
  return figures_of(evaluation);
}

}  // namespace

int evaluating(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind != "slides" && kind != "volumes")
    fail(ErrorCode::usage, "usage: evaluating FOLDER slides|volumes [small]");
  loader::RunConfig config = loader::RunConfig::load(
      feed_store(std::filesystem::absolute(argv[1]).string(), kind, argc > 3));
  const bool gpu = device::cuda::cuda_available();
  if (gpu) config.loader.device = device::DeviceChoice::cuda;
  fmt::print(
      "{}; {}{}, batches of {} tiles that share {:.0f} % of an edge; the second evaluation "
      "of two\n\n"
      "| blended and counted on | tiles | s | tiles/s | waiting for data | tiles decoded by |\n"
      "|---|---|---|---|---|---|\n",
      device::cuda::describe(), gpu ? "" : "a trial on the CPU; ", name_of(config.model.name),
      config.eval.batch, config.eval.overlap * 100);
  const std::string wanted = row("host", config), found = row("model", config);
  fmt::print("\nThe figures of both are {}.\n", found == wanted ? "the same" : "DIFFERENT");
  return found == wanted ? 0 : 1;
}

}  // namespace headrace::device_bench
