// Writes what the end-to-end bench reads: FOLDER/{slides,volumes}.zarr of synthetic images and a
// run config for each.
//   feed_stores FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "headrace/core/error.hpp"
#include "tests/loader/store_fixture.hpp"
#include "tests/loader/volume_fixture.hpp"

namespace {

constexpr const char* kSlides = R"(
patch: {size: [512, 512], mpp: 0.5, context: [1]}
sampling: {seed: 1, batch: 32, batches_per_epoch: 10000}
model: {name: unet2d, widths: [32, 64, 128, 256]}
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 8, magnitude_um: 15, probability: 1}
  - stain_normalize: {}
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.2, contrast: 0.2, saturation: 0.2, hue: 0.04}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
)";
constexpr const char* kVolumes = R"(
patch: {size: [128, 128, 128], spacing_mm: [1, 1, 1]}
sampling: {seed: 1, batch: 2, batches_per_epoch: 10000}
model: {name: unet3d, widths: [32, 64, 128, 256]}
transforms:
  - affine: {rotate_deg: [-15, 15], scale: [0.9, 1.1], flip: true}
  - elastic: {grid: 7, magnitude_mm: 8, probability: 1}
  - window_hu: {low: -160, high: 240}
  - gamma: {gamma: [0.7, 1.5], probability: 0.5}
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.5}
)";

void write_config(const std::string& folder, const std::string& name, const char* rest) {
  std::ofstream file(folder + "/" + name + ".yaml");
  file << "task: segmentation\ndata: {store: " << folder << "/" << name << ".zarr}\n"
       << "loader: {prefetch: 6}\n"
       << rest;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace headrace;
  if (argc != 2) {
    std::cerr << "usage: feed_stores FOLDER\n";
    return 2;
  }
  try {
    const std::string folder = std::filesystem::absolute(argv[1]);
    std::filesystem::create_directories(folder);
    testing::StoreSpec slides;
    slides.images = 4;
    slides.height = slides.width = 8192;
    slides.levels = 4;
    slides.inner = 256;
    slides.shard = 2048;
    slides.cell = 256;
    slides.codec = "jpeg";
    slides.splits = {"train", "train", "train", "val"};
    testing::write_store(folder + "/slides.zarr", slides);
    write_config(folder, "slides", kSlides);
    testing::VolumeSpec volumes;
    volumes.images = 4;
    volumes.shape_zyx = {256, 384, 384};
    volumes.spacing_mm_zyx = {1, 0.9, 0.9};
    volumes.splits = {"train", "train", "train", "val"};
    // What every way of reading and decoding takes.
    volumes.codec = "zstd";
    volumes.checked = true;
    volumes.align = 4096;
    testing::write_volume_store(folder + "/volumes.zarr", volumes);
    write_config(folder, "volumes", kVolumes);
    return 0;
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    return exit_code(error.code());
  }
}
