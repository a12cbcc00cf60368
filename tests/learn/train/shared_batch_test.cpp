// Batches in other hands: LibTorch over their own memory, by DLPack and in a Network.
#include <ATen/DLConvertor.h>
#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/loader/dlpack.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/inference/network.hpp"
#include "learn/model/runtime.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::train {
namespace {

using loader::Batch;
using transform::Element;
using transform::Layout;
namespace dlpack = loader::dlpack;

class SharedBatch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<fixtures::TemporaryFolder>();
    fixtures::write_store(folder_->path("c.zarr"), {});
    fixtures::write_volume_store(folder_->path("v.zarr"), {});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static config::RunConfig config(bool volumes, const std::string& element,
                                  const std::string& layout, const std::string& device = "cpu") {
    const std::string data = folder_->path(volumes ? "v.zarr" : "c.zarr");
    const char* patch = volumes ? "{size: [16, 16, 32], spacing_mm: [2, 1, 1]}"
                                : "{size: [64, 96], mpp: 0.5, context: [1, 2]}";
    return config::RunConfig::parse(
        fmt::format("task: segmentation\ndata: {{store: {}}}\npatch: {}\n"
                    "sampling: {{seed: 3, batch: 2, batches_per_epoch: 2}}\n"
                    "model: {{widths: [8, 16]}}\ntrain: {{threads: 1}}\n"
                    "loader: {{threads: 2, device: {}, element: {}, layout: {}}}\n",
                    data, patch, device, element, layout),
        "run.yaml");
  }
  static Batch first(const config::RunConfig& config) {
    const auto cohort = cohort::Cohort::open(config.data.store);
    loader::Loader loader(cohort, config, loader::make_training_plan(*cohort, config), true);
    return *loader.next();
  }
  static at::Tensor taken(const Batch& batch, dlpack::Part part) {
    return at::fromDLPack(dlpack::share(batch, part));
  }

  static inline std::unique_ptr<fixtures::TemporaryFolder> folder_;
};

TEST_F(SharedBatch, ByDlpackIsTheBatchsOwnMemory) {
  for (const bool volumes : {false, true}) {
    const Batch floats = first(config(volumes, "float32", "channels_first"));
    const at::Tensor expected = taken(floats, dlpack::Part::images);
    for (const char* element : {"float32", "bfloat16", "float16"}) {
      for (const char* layout : {"channels_first", "channels_last"}) {
        const Batch batch = first(config(volumes, element, layout));
        const at::Tensor images = taken(batch, dlpack::Part::images);
        const at::Tensor labels = taken(batch, dlpack::Part::labels);
        EXPECT_EQ(images.const_data_ptr(), batch.images);
        EXPECT_EQ(labels.const_data_ptr(), batch.labels);
        EXPECT_EQ(images.sizes().vec(), batch.images_shape());
        EXPECT_EQ(labels.sizes().vec(), batch.labels_shape());
        EXPECT_EQ(labels.scalar_type(), at::kByte);
        // LibTorch rounds float32 to the nearest half as well.
        EXPECT_TRUE(images.equal(expected.to(images.scalar_type()))) << element << layout;
      }
    }
  }
}

TEST_F(SharedBatch, ATensorOutlivesItsBatchAndItsLoader) {
  at::Tensor images;
  std::vector<std::byte> before;
  std::weak_ptr<void> memory;
  {
    const Batch batch = first(config(false, "float32", "channels_first"));
    const auto* bytes = static_cast<const std::byte*>(batch.images);
    before.assign(bytes, bytes + batch.images_bytes());
    memory = batch.memory;
    images = taken(batch, dlpack::Part::images);
  }
  ASSERT_FALSE(memory.expired());
  EXPECT_EQ(0, std::memcmp(images.const_data_ptr(), before.data(), before.size()));
  images.reset();
  EXPECT_TRUE(memory.expired());
}

TEST_F(SharedBatch, LabelsOfABatchWithoutAreRefused) {
  Batch batch = first(config(false, "float32", "channels_first"));
  batch.labels = nullptr;
  EXPECT_THROW(dlpack::share(batch, dlpack::Part::labels), Error);
}

/// A network sees the values, however they are stored.
TEST_F(SharedBatch, ANetworkTakesEveryFormat) {
  for (const bool volumes : {false, true}) {
    const config::RunConfig run = config(volumes, "float32", "channels_first");
    inference::Network network(run, 3);
    for (const char* element : {"float32", "bfloat16", "float16"}) {
      Batch floats = first(run);
      const Batch batch = first(config(volumes, element, "channels_last"));
      const at::Tensor values = taken(batch, dlpack::Part::images).to(at::kFloat).contiguous();
      floats.images = values.const_data_ptr();
      const auto wanted = network.predict(floats);
      const std::vector<float> copy(wanted.begin(), wanted.end());
      const auto found = network.predict(batch);
      ASSERT_EQ(found.size(), copy.size());
      EXPECT_EQ(0, std::memcmp(found.data(), copy.data(), copy.size() * sizeof(float)))
          << element << volumes;
    }
  }
}

/// On a GPU: trained on batches that the GPU makes and on the same ones copied to it, the network
/// has the same weights.
TEST_F(SharedBatch, AGpusBatchesTrainAsThoseOfTheCpu) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  for (const bool volumes : {false, true}) {
    std::vector<std::string> weights;
    for (const char* device : {"cpu", "cuda"}) {
      const config::RunConfig run = config(volumes, "bfloat16", "channels_last", device);
      config::RunConfig model = run;
      model.loader.device = device::DeviceChoice::cuda;
      inference::Network network(model, 3);
      const auto cohort = cohort::Cohort::open(run.data.store);
      loader::Loader loader(cohort, run, loader::make_training_plan(*cohort, run), true);
      for (int step = 0; step < 6; ++step) network.step(*loader.next(), 1e-3);
      weights.push_back(network.weights({}));
    }
    EXPECT_TRUE(weights[0] == weights[1]) << (volumes ? "volumes" : "slides");
  }
}

/// The same weights from run to run need a workspace of fixed size, which the library can't set.
TEST_F(SharedBatch, ADeterministicRunOnAGpuNeedsTheWorkspaceOfCublas) {
  if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  const char* variable = "CUBLAS_WORKSPACE_CONFIG";
  const std::string kept = std::getenv(variable);
  unsetenv(variable);
  std::string text;
  try {
    model::configure_runtime(1, device::DeviceChoice::cuda, AutoSwitch::off,
                             /*deterministic=*/true);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    text = error.what();
  }
  setenv(variable, kept.c_str(), 1);
  EXPECT_NE(text.find("Set it to :4096:8"), std::string::npos) << text;
}

}  // namespace
}  // namespace headrace::train
