// On a GPU alone: networks there beside the same ones on the CPU.
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/pinned_range.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/inference/network.hpp"
#include "tests/learn/train/training_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

/// Probabilities of a first batch, and the losses of its step, in float32.
struct Made {
  std::vector<float> probabilities;
  inference::StepLosses losses;
};

Made made_on(device::DeviceChoice place, config::RunConfig config) {
  config.loader.device = place;
  config.loader.amp = AutoSwitch::off;
  const auto cohort = cohort::Cohort::open(config.data.store);
  inference::Network network(config, cohort->classes().size());
  loader::Loader loader(cohort, config, loader::make_training_plan(*cohort, config), true);
  const auto batch = loader.next();
  const auto values = network.predict(*batch);
  Made out{{values.begin(), values.end()}, {}};
  out.losses = network.step(*batch, 1e-3);
  return out;
}

/// Kernels of a GPU add up in another order, with channels innermost: equal but for roundings.
void expect_alike(const config::RunConfig& config) {
  const Made cpu = made_on(device::DeviceChoice::cpu, config),
             gpu = made_on(device::DeviceChoice::cuda, config);
  ASSERT_EQ(gpu.probabilities.size(), cpu.probabilities.size());
  double farthest = 0, sum = 0;
  for (std::size_t i = 0; i < cpu.probabilities.size(); ++i) {
    farthest = std::max(farthest, std::abs(double{gpu.probabilities[i]} - cpu.probabilities[i]));
    sum += cpu.probabilities[i];
  }
  EXPECT_GT(sum, 100);
  EXPECT_LT(farthest, 2e-3);
  EXPECT_NEAR(gpu.losses.total, cpu.losses.total, 1e-3);
  EXPECT_NEAR(gpu.losses.gradient_norm, cpu.losses.gradient_norm, 0.01 * cpu.losses.gradient_norm);
}

TEST(GpuNetwork, OfSlidesIsThatOfTheCpuButForRoundings) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  const fixtures::TrainingFixture fixture;
  expect_alike(fixture.config());
}

TEST(GpuNetwork, OfVolumesIsThatOfTheCpuButForRoundings) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  const fixtures::TemporaryFolder folder;
  fixtures::write_volume_store(folder.path("ct.zarr"), {});
  expect_alike(config::RunConfig::parse(
      "task: segmentation\ndata: {store: " + folder.path("ct.zarr") +
          "}\npatch: {size: [16, 32, 32], spacing_mm: [2.5, 1, 1]}\nsampling: {seed: 3, batch: 2, "
          "batches_per_epoch: 2}\ntransforms:\n  - window_hu: {low: -160, high: 240}\n"
          "model: {name: unet3d, widths: [8, 16]}\ntrain: {threads: 1}\n",
      "run.yaml"));
}

/// What another process predicted is copied behind the work that is in the stream, from memory that
/// is written again: not before wait_until_taken says so.
TEST(GpuNetwork, TakesWhatIsPredictedElsewhereBeforeItIsWrittenAgain) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  const fixtures::TrainingFixture fixture;
  const auto config = fixture.config();
  const auto cohort = cohort::Cohort::open(config.data.store);
  inference::Network network(config, cohort->classes().size());
  config::RunConfig on_host = config;
  on_host.loader.device = device::DeviceChoice::cpu;
  loader::Loader loader(cohort, on_host, loader::make_training_plan(*cohort, config), true);
  const auto batch = loader.next();
  const auto tile =
      static_cast<std::size_t>(batch->height * batch->width) * cohort->classes().size();
  std::vector<float> row(tile * static_cast<std::size_t>(batch->samples));
  const device::cuda::PinnedRange pinned(std::as_writable_bytes(std::span(row)));
  const at::Tensor much = at::ones({4096, 4096}, at::TensorOptions(at::kFloat).device(at::kCUDA));
  for (int round = 0; round < 5; ++round) {
    std::fill(row.begin(), row.end(), static_cast<float>(round));
    for (int i = 0; i < 20; ++i) at::mm(much, much);  // keeps the stream busy
    network.take_predicted(*batch, row);
    network.wait_until_taken();
    std::fill(row.begin(), row.end(), -1.0f);
    EXPECT_EQ(network.probabilities_of(0), std::vector<float>(tile, static_cast<float>(round)));
  }
}

}  // namespace
}  // namespace headrace::train
