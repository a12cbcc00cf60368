// A batch in parts: the step's gradient is the mean of the parts' gradients.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "headrace/loader/loader.hpp"
#include "learn/inference/network.hpp"
#include "learn/model/safetensors.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

class GradientParts : public ::testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), {});
    fixtures::write_volume_store(folder_->path("v.zarr"), {});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static config::RunConfig config(int batch, int parts) {
    const std::string data = folder_->path(GetParam() ? "v.zarr" : "c.zarr");
    // Edges that leave parts at addresses that are not a multiple of 64.
    const char* patch = GetParam() ? "{size: [18, 18, 18], spacing_mm: [2, 1, 1]}"
                                   : "{size: [18, 34], mpp: 0.5, context: [1, 2]}";
    return config::RunConfig::parse(
        fmt::format("task: segmentation\ndata: {{store: {}}}\npatch: {}\n"
                    "sampling: {{seed: 3, batch: {}, batches_per_epoch: 2}}\n"
                    "model: {{widths: [8, 16]}}\ntrain: {{threads: 1, gradient_parts: {}, "
                    "clip_norm: 0}}\nloader: {{threads: 1, device: cpu}}\n",
                    data, patch, batch, parts),
        "run.yaml");
  }
  struct Step {
    inference::StepLosses losses;
    std::map<std::string, at::Tensor> first;  ///< 0.1 · gradient, after one step
  };
  static Step step_on(const config::RunConfig& run, const loader::Batch& batch) {
    inference::Network network(run, 3);
    Step step;
    step.losses = network.step(batch, 1e-3);
    const std::string bytes = network.checkpoint({});
    const auto file = model::parse_safetensors(std::as_bytes(std::span(bytes)), "checkpoint");
    for (const auto& entry : file.tensors) {
      if (entry.name.starts_with("optimiser.first.")) step.first[entry.name] = entry.tensor.clone();
    }
    return step;
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

/// The first moment of AdamW after its first step is a tenth of the gradient: that of a batch in
/// three parts is the mean of those of three networks that saw one part each.
TEST_P(GradientParts, AreMeansOfTheParts) {
  const config::RunConfig whole = config(6, 3), part = config(2, 1);
  const auto cohort = cohort::Cohort::open(whole.data.store);
  const auto plan = loader::make_training_plan(*cohort, whole);
  loader::Loader all(cohort, whole, plan, true);
  const Step together = step_on(whole, *all.next());
  std::vector<Step> alone;
  for (std::int64_t p = 0; p < 3; ++p) {
    loader::Loader loader(cohort, whole, plan, true, 0, 0, std::nullopt, {2 * p, 2});
    alone.push_back(step_on(part, *loader.next()));
  }
  ASSERT_GT(together.first.size(), 10u);
  double largest = 0;
  for (const auto& [name, found] : together.first) {
    const at::Tensor expected =
        (alone[0].first.at(name).to(at::kDouble) + alone[1].first.at(name).to(at::kDouble) +
         alone[2].first.at(name).to(at::kDouble)) /
        3;
    const double scale = expected.abs().max().item<double>();
    largest = std::max(largest, scale);
    EXPECT_LE((found - expected).abs().max().item<double>(), 1e-6 * scale + 1e-12) << name;
  }
  EXPECT_GT(largest, 1e-4);
  EXPECT_DOUBLE_EQ(together.losses.total,
                   (alone[0].losses.total + alone[1].losses.total + alone[2].losses.total) / 3);
  EXPECT_DOUBLE_EQ(together.losses.dice,
                   (alone[0].losses.dice + alone[1].losses.dice + alone[2].losses.dice) / 3);
  EXPECT_NE(alone[0].losses.total, alone[1].losses.total);
}

/// No network mixes samples: a part's gradient is that of its samples, whatever else is in a batch.
TEST_P(GradientParts, SamplesDoNotSeeEachOther) {
  const config::RunConfig run = config(4, 1);
  const auto cohort = cohort::Cohort::open(run.data.store);
  const auto plan = loader::make_training_plan(*cohort, run);
  loader::Loader all(cohort, run, plan, true);
  inference::Network network(run, 3);
  const auto batch = *all.next();
  const std::span<const float> found = network.predict(batch);
  const std::vector<float> together(found.begin(), found.end());
  std::vector<float> alone;
  for (std::int64_t s = 0; s < 4; ++s) {
    loader::Loader loader(cohort, run, plan, true, 0, 0, std::nullopt, {s, 1});
    const auto one = *loader.next();
    const std::span<const float> values = network.predict(one);
    alone.insert(alone.end(), values.begin(), values.end());
  }
  ASSERT_EQ(alone.size(), together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(alone[i], together[i], 1e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(SlidesAndVolumes, GradientParts, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "volumes" : "slides"; });

}  // namespace
}  // namespace headrace::train
