#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "headrace/loader/plan/run_preprocessing.hpp"
#include "learn/predict/watch/watch.hpp"
#include "learn/runs/run_folder.hpp"
#include "tests/core/error_of.hpp"
#include "tests/loader/volume_fixture.hpp"
#include "tests/temporary_folder.hpp"

namespace headrace::predict {
namespace {

/// A run whose network has not learnt anything.
void write_run(const std::string& path, const std::string& store) {
  const auto config = config::RunConfig::parse(
      "task: segmentation\ndata: {store: " + store +
          "}\npatch: {size: [8, 16, 16]}\nsampling: {seed: 3}\ntransforms:\n"
          "  - window_hu: {low: -160, high: 240}\nmodel: {name: unet3d, widths: [8, 16]}\n"
          "train: {threads: 1}\nloader: {device: cpu}\n",
      "run.yaml");
  const auto preprocessing = loader::Preprocessing::fit(*cohort::Cohort::open(store), config);
  runs::RunFolder folder = runs::RunFolder::create(path);
  folder.write_json(loader::kRunFile,
                    {{"format", loader::kRunFormat},
                     {loader::kPreprocessingHash, loader::hash_of(preprocessing)}});
  folder.write_json(loader::kPreprocessingFile, preprocessing.to_json());
  folder.write_json("config.json", config.to_json());
  const inference::Network network(config, preprocessing.classes.size());
  folder.write(runs::kFinalWeights, network.weights({}));
}

/// What LibTorch throws while a folder is watched; whoever is asked whether to stop throws it here.
TEST(Watch, ErrorsOfLibTorchAreASentence) {
  const fixtures::TemporaryFolder folder;
  fixtures::VolumeSpec spec;
  spec.images = 1;
  spec.shape_zyx = {9, 20, 20};
  fixtures::write_volume_store(folder.path("ct.zarr"), spec);
  write_run(folder.path("run"), folder.path("ct.zarr"));
  std::filesystem::create_directory(folder.path("in"));
  WatchRequest request;
  request.predict.runs = {folder.path("run")};
  request.predict.out = folder.path("out");
  request.predict.run.device = device::DeviceChoice::cpu;
  request.folder = folder.path("in");
  request.predict.stopped = []() -> bool {
    throw c10::OutOfMemoryError({"here", "file.cu", 1}, "CUDA out of memory.\nA list of calls");
  };
  const std::string text = error_of(ErrorCode::memory, [&] { watch(request); });
  EXPECT_EQ(text.rfind("LibTorch: CUDA out of memory. Lower sampling.batch", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), text.npos) << text;
}

}  // namespace
}  // namespace headrace::predict
