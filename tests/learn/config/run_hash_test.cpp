// Golden: what a run of an earlier version recorded must be what this version computes, or it could not be resumed, replayed or compared.
#include <gtest/gtest.h>

#include <string>

#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::config {
namespace {

struct Recorded {
  const char* name;
  const char* text;
  const char* hash;  ///< RunConfig::hash
  const char* json;  ///< SHA-256 of to_json as a file
};

constexpr const char* kSlides = R"(task: gleason
data: {store: cohort.zarr, train: a, val: b, outside: ignore, folds: 5, fold: 2, folds_seed: 9, same_pixels: take}
patch: {size: [256, 320], mpp: 0.25, context: [1, 2, 4]}
sampling: {seed: 7, batch: 12, batches_per_epoch: 50, foreground: 0.8, balance: class, cohort_weights: {x: 1, y: 2}, near_lesions: 0.2}
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 8, magnitude_um: 15, probability: 0.5}
  - stain_normalize: {method: macenko, reference: builtin}
  - scanner_color
  - hed_jitter: {sigma: 0.05}
  - color_jitter: {brightness: 0.25, contrast: 0.25, saturation: 0.25, hue: 0.04}
  - gaussian_noise: {sigma: [0, 0.02], probability: 0.5}
  - blur: {sigma: [0.5, 1.5], probability: 0.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
loader: {threads: 2, prefetch: 3, device: cuda, element: float16, layout: channels_last, decode: gpu, gpudirect: auto}
model: {widths: [16, 32, 64]}
train: {epochs: 3, lr: 2.0e-3, amp: 'off', gradient_parts: 4, ema: 0.99, schedule: poly, freeze: [enc], class_weights: [1, 2],
        loss: {pixel: focal, gamma: 3, region: tversky}, patience: 2, min_delta: 0.01, best: {figure: gleason.kappa, over: worst_scanner}}
eval: {overlap: 0.25, batch: 3, window: linear, bootstrap: 100, min_cancer: 0.03, grading: prostatectomy, tumour_classes: [p3], subset: 5}
gates: [{figure: gleason.kappa, least: 0.6}]
tracking: [{to: tensorboard}, {to: mlflow, url: "http://127.0.0.1:5000", fields: [cohorts]}]
)";

constexpr const char* kVolumes = R"(task: lesions
data: {store: ct.zarr, channels: [art, pv], version: abc}
patch: {size: [32, 96, 64], spacing_mm: [3, 1, 1]}
sampling: {seed: 1, balance: body, order: cover}
transforms:
  - affine: {rotate_deg: [-15, 15], scale: [0.8, 1.25], flip: true}
  - elastic: {grid: 5, magnitude_mm: 5, probability: 0.3}
  - window_hu: {low: -160, high: 240, channel: art}
  - clip_percentiles: {channel: pv}
  - normalize: {method: zscore, channel: pv}
  - brightness
  - contrast
  - gamma
  - blur
  - low_resolution
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.3}
train: {amp: 'on', optimizer: {module: "a.b:c", arguments: {d: [1, {e: null}]}}}
eval: {overlap: 0.6, surface_tolerance_mm: 3, lesion_probability: 0.4, lesion_lowest: 0.2, lesion_diameters_mm: [5, 15], lesion_classes: [t]}
)";

constexpr const char* kOwnModel = R"(task: segmentation
data: {store: a, labels: null}
patch: {size: [48, 48, 48], spacing_mm: null}
transforms: [{preset: nnunet}]
model: {module: "my_nets.unet:build", arguments: {width: 8}}
)";

const Recorded kRecorded[] = {
    {"Slides", kSlides, "03a03b9f54266ee5d05c87bed44c902972cddbc348f3e52ebf186e524ed19a24",
     "f5453b991d25730556212b9eb670416328e39c779ee3a944ffa3a8420dd98da3"},
    {"Volumes", kVolumes, "13934ea92f123e1775815dc26cc2a3d32b53369133581f8ecb77c2b86a5356f3",
     "32873923d9e492ffe3aa794eb2f32216465f78e2a51370ebb350114809d9d247"},
    {"OwnModel", kOwnModel, "acf6be0ba5ca4ab503d894854674921eed95fe41ef00bfede4e75d0b7e7a3304",
     "a143b66999c49ee55c2b830932a202f3775abb950d0822d7db139945aa555d94"},
    {"Defaults", "task: segmentation\ndata: {store: a}\n",
     "a32bf5452845c6a0392ec2e9c629cc623a1113bb9ba6ee3c283aa300d3496cbf",
     "5b23ad996422ede7e988b598c8aaeeb3426e15c76fadc1d1fcf240faf30f4cfc"},
    {"VolumeDefaults", "task: colorectal\ndata: {store: a}\nmodel: auto\n",
     "3639d30aaa031be6d9764950887edc9a69eb9e9af99444b3728f8302125c15c1",
     "96fc9e2aad1c562d0058827865498912cb65056528bcdd96ead141ccdede0050"},
};

/// Computed by the version that read all of RUN.yaml in one struct.
TEST(RunHash, IsThatOfEarlierVersions) {
  for (const Recorded& recorded : kRecorded) {
    const RunConfig config = RunConfig::parse(recorded.text, "run.yaml");
    EXPECT_EQ(config.hash(), recorded.hash) << recorded.name;
    EXPECT_EQ(sha256_hex(dump_json(config.to_json())), recorded.json) << recorded.name;
  }
}

}  // namespace
}  // namespace headrace::config
