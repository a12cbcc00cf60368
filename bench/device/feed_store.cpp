#include "bench/device/feed_store.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string>

#include "headrace/storage/atomic_file.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace headrace::device_bench {
namespace {

// {0}: an edge of a patch, {1}: patches in a batch, {2}: channels of the network's levels.
constexpr const char* kSlides = R"(
patch: {{size: [{0}, {0}], mpp: 0.5, context: [1]}}
sampling: {{seed: 1, batch: {1}, batches_per_epoch: 10000}}
model: {{name: unet2d, widths: [{2}]}}
transforms:
  - affine: {{rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}}
  - elastic: {{grid: 8, magnitude_um: 15, probability: 1}}
  - stain_normalize: {{}}
  - hed_jitter: {{sigma: 0.05}}
  - color_jitter: {{brightness: 0.2, contrast: 0.2, saturation: 0.2, hue: 0.04}}
  - normalize: {{mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}}
)";
constexpr const char* kVolumes = R"(
patch: {{size: [{0}, {0}, {0}], spacing_mm: [1, 1, 1]}}
sampling: {{seed: 1, batch: {1}, batches_per_epoch: 10000}}
model: {{name: unet3d, widths: [{2}]}}
eval: {{batch: {1}}}
transforms:
  - affine: {{rotate_deg: [-15, 15], scale: [0.9, 1.1], flip: true}}
  - elastic: {{grid: 7, magnitude_mm: 8, probability: 1}}
  - window_hu: {{low: -160, high: 240}}
  - gamma: {{gamma: [0.7, 1.5], probability: 0.5}}
  - gaussian_noise: {{sigma: [0, 0.05], probability: 0.5}}
)";

void write_slides(const std::string& path, bool trial) {
  fixtures::StoreSpec slides;
  slides.images = 4;
  slides.height = slides.width = trial ? 1024 : 4096;
  slides.levels = 4;
  slides.inner = 256;
  slides.shard = 2048;
  slides.cell = 256;
  slides.codec = "jpeg";
  slides.splits = {"train", "train", "train", "val"};
  fixtures::write_store(path, slides);
}

void write_volumes(const std::string& path, bool trial) {
  fixtures::VolumeSpec volumes;
  volumes.images = 4;
  volumes.shape_zyx = {256, 256, 256};
  if (trial) volumes.shape_zyx = {64, 96, 96};
  volumes.spacing_mm_zyx = {1, 0.9, 0.9};
  volumes.splits = {"train", "train", "train", "val"};
  // What every way of reading and decoding takes.
  volumes.codec = "zstd";
  volumes.checked = true;
  volumes.align = 4096;
  fixtures::write_volume_store(path, volumes);
}

}  // namespace

std::string feed_store(const std::string& folder, const std::string& name, bool trial) {
  const std::string store = folder + "/" + name + ".zarr", config = folder + "/" + name + ".yaml";
  if (std::filesystem::exists(config)) return config;
  std::filesystem::create_directories(folder);
  std::filesystem::remove_all(store);
  const std::string widths = trial ? "8, 16" : "32, 64, 128, 256";
  std::string text =
      fmt::format("task: segmentation\ndata: {{store: {}}}\nloader: {{prefetch: 6}}\n", store);
  if (name == "slides") {
    write_slides(store, trial);
    text += fmt::format(kSlides, trial ? 128 : 512, trial ? 4 : 32, widths);
  } else {
    write_volumes(store, trial);
    text += fmt::format(kVolumes, trial ? 48 : 128, 2, widths);
  }
  storage::write_file(config, std::as_bytes(std::span(text)));
  return config;
}

}  // namespace headrace::device_bench
