// End to end: batches of a store, read, decoded, copied and transformed, into the training step of
// a U-Net, whose figures the host reads two steps later, as in a training. For each way of making
// batches, patches a second, the part of the time that the model waited for data, NVML's
// utilisation of the GPU, and the GPU's time. A Markdown table on stdout. Without a GPU a trial on
// the CPU.
//   training FOLDER slides|volumes [SECONDS [small]]   the store that `feeding` makes
//   training CONFIG [SECONDS]                          a run config (docs/runbook.md)
//     SECONDS   of each row; 4 if left out
//     small     a small store and network, to try it
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "bench/device/bandwidth.hpp"
#include "bench/device/commands.hpp"
#include "bench/device/feed_store.hpp"
#include "bench/device/ways.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/inference/network.hpp"
#include "learn/train/training_times.hpp"

namespace headrace::device_bench {
namespace {

using train::Clock;
using train::seconds_since;

constexpr std::size_t kReadBehind = 2;  // as in a training on a GPU
constexpr double kLeastBusy = 90, kMostWaiting = 0.05;

/// Steps of a network, read two later.
class Steps {
 public:
  Steps(inference::Network& network, loader::Loader& loader) : network_(network), loader_(loader) {}

  void start_one() {
    const auto begin = Clock::now();
    const auto batch = loader_.next();
    waited_.push_back(seconds_since(begin));
    network_.start_step(*batch, 1e-3);
    if (waited_.size() > kReadBehind) read();
  }
  void read_all() {
    while (!waited_.empty()) read();
  }

  train::TrainingTimes times;

 private:
  void read() {
    const auto losses = network_.read_step();
    if (losses.times) times.add(*losses.times, waited_.front(), /*after_pause=*/false);
    waited_.pop_front();
  }

  inference::Network& network_;
  loader::Loader& loader_;
  std::deque<double> waited_;
};

struct Row {
  double waiting = 1, busy = 0;  ///< part of the time; percent
};

Row row(const config::RunConfig& config, const Way& way, double seconds, int warm_up) {
  const auto cohort = cohort::Cohort::open(config.data.store, config.data.version);
  const loader::LoaderConfig feeding = with(way, config);
  const auto preprocessing =
      std::make_shared<const loader::Preprocessing>(loader::Preprocessing::fit(*cohort, config));
  inference::Network network(config, cohort->classes().size(),
                             loader::channel_count(*preprocessing, config));
  loader::Loader loader(cohort, feeding, loader::make_training_plan(*cohort, feeding),
                        preprocessing, {.with_labels = true});
  Steps steps(network, loader);
  for (int i = 0; i < warm_up; ++i) steps.start_one();
  steps.read_all();
  steps.times = {};
  const loader::StallStats before = loader.stats();
  std::optional<device::GpuMeter> meter;
  if (network.on_gpu()) meter.emplace(device::cuda::pci_bus_id());
  const auto begin = Clock::now();
  int count = 0;
  for (; count < 4 || seconds_since(begin) < seconds; ++count) steps.start_one();
  steps.read_all();
  const double wall = seconds_since(begin);
  const loader::StallStats after = loader.stats();
  const bool bfloat16 = network.runtime().at("bfloat16").get<bool>();
  const std::string made =
      fmt::format("{} | {} | {}", way.name, config.train.deterministic ? "yes" : "no",
                  bfloat16 ? "bfloat16" : "float32");
  if (!meter) {
    fmt::print("| {} | {} | ran | ran | ran | ran | ran | ran | ran | {} | {} |\n", made, count,
               after.decoded_by, after.read_by);
    return {};
  }
  const device::GpuUsage usage = meter->usage();
  const double stream_s = steps.times.starved_s + steps.times.step_s;
  const Row out{steps.times.starved_s / stream_s, usage.samples > 0 ? usage.busy_percent : 0};
  const auto ms = [&](double loader::StallStats::*time) {
    return (after.*time - before.*time) / count * 1e3;
  };
  fmt::print("| {} | {} | {:.0f} | {:.1f} | {:.1f} % | {} | {:.2f} | {:.2f} | {:.2f} | {} | {} |\n",
             made, count, static_cast<double>(after.samples - before.samples) / wall,
             steps.times.step_s / count * 1e3, out.waiting * 100,
             usage.samples > 0 ? fmt::format("{:.0f} %", usage.busy_percent) : usage.not_measured,
             ms(&loader::StallStats::copy_s), ms(&loader::StallStats::device_decode_s),
             ms(&loader::StallStats::device_transform_s), after.decoded_by, after.read_by);
  return out;
}

/// The first line of an error, for a cell.
std::string line_of(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

/// The first is the rule (train.deterministic), the second what a user may choose.
std::vector<std::pair<Way, bool>> rows_of(bool gpu) {
  std::vector<std::pair<Way, bool>> out;
  if (gpu) {
    out.push_back(
        {{"the CPU", device::DeviceChoice::cpu, zarr::DecodeOn::automatic, storage::GpuDirect::off},
         true});
  }
  for (const Way& way : ways(gpu)) out.push_back({way, true});
  if (gpu) out.push_back({ways(gpu)[1], false});
  return out;
}

config::RunConfig config_of(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind != "slides" && kind != "volumes") return config::RunConfig::load(argv[1]);
  const std::string folder = std::filesystem::absolute(argv[1]).string();
  return config::RunConfig::load(feed_store(folder, kind, argc > 4));
}

}  // namespace

int training(int argc, char** argv) {
  if (argc < 2) {
    fail(ErrorCode::usage,
         "usage: training FOLDER slides|volumes [SECONDS [small]], or training CONFIG [SECONDS]");
  }
  config::RunConfig config = config_of(argc, argv);
  const std::string kind = config.volumes ? "volumes" : "slides";
  const bool own_store = argc > 2 && argv[2] == kind;
  const char* seconds_text = argc > (own_store ? 3 : 2) ? argv[own_store ? 3 : 2] : "4";
  const double seconds = std::max(0.1, std::atof(seconds_text));
  const bool gpu = device::cuda::cuda_available();
  if (gpu) config.loader.device = device::DeviceChoice::cuda;  // of the model
  const int warm_up = gpu ? 10 : 1;
  fmt::print(
      "{}; {}{}, batches of {}, {:.1f} s a row after {} steps\n\n"
      "| batches made on | deterministic | precision | steps | patches/s | a step alone, ms | "
      "waiting for data | GPU busy (NVML) | copy, ms a batch | decoding on the GPU, ms a batch | "
      "transform on the GPU, ms a batch | decoded by | read by |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
      device::cuda::describe(), gpu ? "" : "a trial on the CPU; ", name_of(config.model.name),
      config.sampling.batch, seconds, warm_up);
  Row best;
  int failed = 0;
  for (const auto& [way, deterministic] : rows_of(gpu)) {
    config.train.deterministic = deterministic;
    try {
      const Row made = row(config, way, seconds, warm_up);
      if (deterministic && made.waiting < best.waiting) best = made;
    } catch (const Error& error) {
      failed += is_lacking(way, error) ? 0 : 1;
      fmt::print("| {} | not measured: {} | | | | | | | | | | | |\n", way.name, line_of(error));
    } catch (const std::exception& error) {  // LibTorch's: the other rows are still to be had
      ++failed;
      fmt::print("| {} | failed: {} | | | | | | | | | | | |\n", way.name, line_of(error));
    }
    std::fflush(stdout);
  }
  if (gpu && best.busy > 0) {
    fmt::print("\n{}{}",
               against(fmt::format("{}: a training waits for data less than {:.0f} % of the time",
                                   kind, kMostWaiting * 100),
                       fmt::format("{:.1f} %", best.waiting * 100), best.waiting < kMostWaiting),
               against(fmt::format("{}: a training keeps the GPU busy more than {:.0f} % of the "
                                   "time (NVML)",
                                   kind, kLeastBusy),
                       fmt::format("{:.0f} %", best.busy), best.busy > kLeastBusy));
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace headrace::device_bench
