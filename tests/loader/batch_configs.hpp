#pragma once

namespace headrace::fixtures {

/// Runs on the fixtures' stores with every kind of transform; windows lie partly outside of images.
inline constexpr const char* kSlides = R"(
task: segmentation
data: {store: c.zarr}
patch: {size: [64, 96], mpp: 0.5, context: [1, 2]}
sampling: {seed: 3, batch: 5, batches_per_epoch: 3, keep_inside: false}
model: {widths: [8, 16]}
loader: {threads: 2}
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_um: 5, probability: 0.5}
  - stain_normalize: {}
  - blur: {sigma: [0.5, 1.5], probability: 0.5}
  - normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
)";
inline constexpr const char* kViews = R"(
task: segmentation
data: {store: c.zarr}
patch: {size: [64, 96], mpp: 0.5}
sampling: {seed: 3, batch: 5, batches_per_epoch: 3, keep_inside: false}
loader: {threads: 2}
transforms:
  - affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], translate: 0.3, flip: true}
  - blur: {sigma: [0.5, 1.5], probability: 0.5}
views:
  - {name: whole}
  - {name: local, crops: 3, size: [33, 40]}
  - {name: wide, mpp: 1, transforms: [stain_normalize: {}]}
)";
inline constexpr const char* kVolumes = R"(
task: segmentation
data: {store: v.zarr}
patch: {size: [16, 24, 32], spacing_mm: [2, 1, 1]}
sampling: {seed: 3, batch: 3, batches_per_epoch: 3, keep_inside: false}
model: {widths: [8, 16]}
loader: {threads: 2}
transforms:
  - affine: {rotate_deg: [-30, 30], scale: [0.8, 1.25], shear_deg: [-5, 5], translate: 0.1, flip: true}
  - elastic: {grid: 4, magnitude_mm: 4, probability: 0.5}
  - window_hu: {low: -160, high: 240}
  - blur: {sigma: [0.5, 1], probability: 0.5}
  - gamma: {gamma: [0.7, 1.5], probability: 0.5}
)";

}  // namespace headrace::fixtures
