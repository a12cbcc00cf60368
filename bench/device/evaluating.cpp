// An evaluation of a split, its tiles blended and counted on the host and where the model is:
// whether every figure is the same, and if so, tiles a second. A Markdown table on stdout. Without
// a GPU a trial on the CPU.
//   evaluating FOLDER slides|volumes [small]    the store that `feeding` makes
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/device/commands.hpp"
#include "bench/device/feed_store.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "learn/inference/network.hpp"
#include "learn/train/evaluate/evaluate.hpp"

namespace headrace::device_bench {
namespace {

/// An evaluation's figures, without the times.
std::string figures_of(train::Evaluation evaluation) {
  evaluation.json.erase("time");
  return evaluation.json.dump();
}

struct Row {
  std::string place, counted, timed;  ///< of the table
  std::string figures;
};

/// An evaluation; on a GPU one before it warms up.
Row row(const char* where, const config::RunConfig& config) {
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
  const std::string timed =
      network.on_gpu()
          ? fmt::format("{:.2f} | {:.0f} | {:.1f} %", wall, static_cast<double>(tiles) / wall,
                        time.at("data_wait_s").get<double>() / wall * 100)
          : "ran | ran | ran";
  return {std::string(where) == "host" ? "the host" : "the model's device",
          fmt::format("{} | {}", tiles, evaluation.loader.decoded_by), timed,
          figures_of(evaluation)};
}

}  // namespace

int evaluating(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind != "slides" && kind != "volumes")
    fail(ErrorCode::usage, "usage: evaluating FOLDER slides|volumes [small]");
  config::RunConfig config = config::RunConfig::load(
      feed_store(std::filesystem::absolute(argv[1]).string(), kind, argc > 3));
  const bool gpu = device::cuda::cuda_available();
  if (gpu) config.loader.device = device::DeviceChoice::cuda;
  fmt::print(
      "{}; {}{}, batches of {} tiles that share {:.0f} % of an edge; the second evaluation "
      "of two\n\n"
      "| blended and counted on | tiles | decoded by | s | tiles/s | waiting for data |\n"
      "|---|---|---|---|---|---|\n",
      device::cuda::describe(), gpu ? "" : "a trial on the CPU; ", name_of(config.model.name),
      config.tiles.batch, config.tiles.overlap * 100);
  const Row host = row("host", config), there = row("model", config);
  const bool same = host.figures == there.figures;
  for (const Row& one : {host, there}) {
    fmt::print("| {} | {} | {} |\n", one.place, one.counted,
               same ? one.timed : "not timed | not timed | not timed");
  }
  fmt::print("\nThe figures of both are {}.\n", same ? "the same" : "DIFFERENT");
  return same ? 0 : 1;
}

}  // namespace headrace::device_bench
