// End to end on a GPU: batches of a store, read, decoded, copied and transformed, into the training
// step of a U-Net. For each way of making batches, patches a second, the part of the time that the
// model waited for data, NVML's utilisation of the GPU, and the GPU's time. A Markdown table on
// stdout; without a GPU one line that states it.
//   bench_device_training CONFIG [STEPS]    a run config (docs/runbook.md) with its store
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "bench/device/ways.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/inference/network.hpp"
#include "headrace/loader/loader.hpp"

namespace {

using namespace headrace;
using device_bench::Way;

constexpr int kWarmUp = 20;

void row(const loader::RunConfig& config, const Way& way, int steps) {
  const auto cohort = cohort::Cohort::open(config.data.store, config.data.version);
  const loader::RunConfig feeding = device_bench::with(way, config);
  inference::Network network(config, cohort->classes().size());
  loader::Loader loader(cohort, feeding, loader::make_training_plan(*cohort, feeding), true);
  for (int i = 0; i < kWarmUp; ++i) network.step(*loader.next(), 1e-3);
  const loader::StallStats before = loader.stats();
  const device::GpuMeter meter(device::cuda::pci_bus_id());
  const auto begin = std::chrono::steady_clock::now();
  // A step ends with its loss on the host: the time holds the GPU's work.
  for (int i = 0; i < steps; ++i) network.step(*loader.next(), 1e-3);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const loader::StallStats after = loader.stats();
  const device::GpuUsage usage = meter.usage();
  const auto ms = [&](double loader::StallStats::*time) {
    return (after.*time - before.*time) / steps * 1e3;
  };
  fmt::print("| {} | {:.0f} | {:.1f} % | {} | {:.2f} | {:.2f} | {:.2f} | {} | {} |\n", way.name,
             static_cast<double>(after.samples - before.samples) / wall,
             (after.data_wait_s - before.data_wait_s) / wall * 100,
             usage.samples > 0 ? fmt::format("{:.0f} %", usage.busy_percent) : usage.not_measured,
             ms(&loader::StallStats::copy_s), ms(&loader::StallStats::device_decode_s),
             ms(&loader::StallStats::device_transform_s), after.decoded_by, after.read_by);
}

/// Anything that this machine or the store lacks is a row that states it.
void row_or_reason(const loader::RunConfig& config, const Way& way, int steps) {
  try {
    row(config, way, steps);
  } catch (const Error& error) {
    if (!device_bench::is_lacking(way, error)) throw;
    fmt::print("| {} | not measured: {} | | | | | | | |\n", way.name, error.what());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  // cuBLAS is deterministic only with a fixed workspace; the library refuses to train without.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_device_training CONFIG [STEPS]\n");
    return 2;
  }
  const int steps = argc > 2 ? std::max(1, std::atoi(argv[2])) : 300;
  try {
    if (!device::cuda::cuda_available()) {
      fmt::print("not measured: {}\n", device::cuda::describe());
      return 0;
    }
    loader::RunConfig config = loader::RunConfig::load(argv[1]);
    config.loader.device = device::DeviceChoice::cuda;  // of the model
    fmt::print(
        "{}; {}, batch {}, {} steps of {} after {}\n\n"
        "| batches made on | patches/s | waiting for data | GPU busy (NVML) | copy, ms a batch | "
        "decoding on the GPU, ms a batch | transform on the GPU, ms a batch | decoded by | read by "
        "|\n|---|---|---|---|---|---|---|---|---|\n",
        device::cuda::describe(), argv[1], config.sampling.batch, steps, name_of(config.model.name),
        kWarmUp);
    const Way cpu{"the CPU", device::DeviceChoice::cpu, zarr::DecodeOn::automatic,
                  storage::GpuDirect::off};
    row_or_reason(config, cpu, steps);
    for (const Way& way : device_bench::ways(true)) row_or_reason(config, way, steps);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.code());
  }
}
