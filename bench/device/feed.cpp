// End to end on a GPU: batches of a store, read, decoded, copied and transformed, into the training
// step of a U-Net. For each place where batches are made, patches a second, the part of the time
// that the model waited for data, and how busy NVML saw the GPU. A Markdown table on stdout;
// without a GPU one line that says so.
//   bench_device_feed CONFIG [STEPS]    a run config (docs/runbook.md) with its store
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/train/network.hpp"

namespace {

using namespace headrace;

constexpr int kWarmUp = 20;

void row(const loader::RunConfig& config, const char* device, int steps) {
  const auto cohort = source::Cohort::open(config.data.store);
  loader::RunConfig feeding = config;
  feeding.loader.device = device;
  train::Network network(config, cohort->classes().size());
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
  fmt::print("| {} | {:.0f} | {:.1f} % | {} | {:.2f} | {:.2f} |\n", device,
             static_cast<double>(after.samples - before.samples) / wall,
             (after.data_wait_s - before.data_wait_s) / wall * 100,
             usage.samples > 0 ? fmt::format("{:.0f} %", usage.busy_percent) : usage.not_measured,
             (after.copy_s - before.copy_s) / steps * 1e3,
             (after.device_transform_s - before.device_transform_s) / steps * 1e3);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_device_feed CONFIG [STEPS]\n");
    return 2;
  }
  const int steps = argc > 2 ? std::max(1, std::atoi(argv[2])) : 300;
  try {
    if (!device::cuda::cuda_available()) {
      fmt::print("not measured: {}\n", device::cuda::describe());
      return 0;
    }
    loader::RunConfig config = loader::RunConfig::load(argv[1]);
    config.loader.device = "cuda";  // of the model
    fmt::print(
        "{}; {}, batch {}, {} steps of {} after {}\n\n"
        "| batches made on | patches/s | waiting for data | GPU busy (NVML) | copy, ms a batch | "
        "transform on the GPU, ms a batch |\n|---|---|---|---|---|---|\n",
        device::cuda::describe(), argv[1], config.sampling.batch, steps, config.model.name,
        kWarmUp);
    for (const char* device : {"cpu", "cuda"}) row(config, device, steps);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.code());
  }
}
