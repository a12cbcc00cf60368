#include "tests/learn/train/training_fixture.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace headrace::fixtures {

TrainingFixture::TrainingFixture() {
  StoreSpec spec;
  spec.height = 300;
  spec.width = 340;
  spec.levels = 2;
  spec.classes = {"background", "benign", "pattern3"};
  write_store(path("c.zarr"), spec);
}

config::RunConfig TrainingFixture::config(const std::string& task) const {
  return config::RunConfig::parse(fmt::format(R"(task: {}
data: {{store: {}}}
patch: {{size: [64, 64], mpp: 0.5, context: [1, 2]}}
sampling: {{seed: 5, batch: 4, batches_per_epoch: 4}}
transforms:
  - affine: {{rotate_deg: [-180, 180], scale: [0.8, 1.25], flip: true}}
  - gaussian_noise: {{sigma: [0, 0.02]}}
  - normalize: {{mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}}
loader: {{threads: 1, prefetch: 2}}
model: {{widths: [8, 16]}}
train: {{epochs: 2, lr: 3.0e-3, checkpoint_every: 3, threads: 1, log_every: 2}}
eval: {{batch: 4}}
)",
                                              task, path("c.zarr")),
                                  "run.yaml");
}

Json without_times(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& entry : value) out.push_back(without_times(entry));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, entry] : value.items()) {
    if (key != "time") out[key] = without_times(entry);
  }
  return out;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace headrace::fixtures
