#pragma once
// Every path of the 3-D kernels once, at sizes that are not a multiple of a pack.
#include "headrace/transform/volume/volume_spec.hpp"
#include "volume_case.hpp"

namespace headrace::transform::fixtures {

inline std::vector<VolumeSetting> volume_kernel_cases() {
  VolumeAffineSpec affine, flip;
  affine.rotate_deg = {-40, 40};
  affine.scale = {0.8, 1.25};
  affine.shear_deg = {-5, 5};
  affine.translate = 0.1;
  affine.flip = flip.flip = true;
  const VolumeElasticSpec elastic{5, 6, 1};
  const WindowHuSpec window{-160, 240};
  const VolumeNormalizeSpec foreground{NormalizeMethod::foreground, 0, 1};
  const VolumeBrightnessSpec bright{{0.75, 1.25}, 1, true};
  const VolumeContrastSpec contrast{{0.75, 1.25}, 1, true, true};
  const VolumeGammaSpec gamma{{0.7, 1.5}, 1, false, true, true};
  const VolumeGammaSpec inverted{{0.7, 1.5}, 1, true, false, true};
  const VolumeNoiseSpec noise{{0.02, 0.1}, 1, false};
  const VolumeBlurSpec blur{{0.5, 2}, 1};
  const LowResolutionSpec low{{0.4, 0.9}, 1};
  const ChannelPlace pet{"PET", 1, IntensityUnit::suv};
  const VolumePatchSpec p{{13, 21, 43}, {1.5, 1.5, 1.5}}, coarse{{9, 11, 19}, {4, 4, 3.1}};
  return {
      {"copy", {}, p},
      {"exact copy", {flip}, p, {35.5, 44.5, 55.5}, {1.5, 1.5, 1.5}},
      {"smoothed", {flip}, coarse, {35, 44, 55}, {2, 1.5, 1.2}},
      {"smoothed and turned", {affine, elastic, window}, coarse, {10, 44, 100}, {3, 1.5, 1.2}},
      {"affine", {affine}, p},
      {"elastic", {elastic}, p},
      {"elastic fine", {VolumeElasticSpec{17, 3, 1}}, p},
      {"affine and elastic", {affine, elastic}, p},
      {"over the edge", {affine, elastic}, p, {3, 85, 108}},
      {"aligned over the edge", {flip}, p, {3, 85, 108}},
      {"outside", {affine, window, noise}, p, {-200, -200, -200}},
      {"one voxel of the level", {affine}, p, {-6, -11, -20}},
      {"window", {window}, p},
      {"clip and zscore",
       {ClipPercentilesSpec{}, VolumeNormalizeSpec{NormalizeMethod::zscore, 0, 1}},
       p},
      {"foreground", {foreground}, p},
      {"noise", {window, noise}, p},
      {"contrast first", {contrast}, p},
      {"gamma", {window, gamma}, p},
      {"gamma inverted", {foreground, inverted}, p},
      {"blur", {window, blur}, p},
      {"low resolution", {window, low}, p},
      {"statistics of neighbours", {window, blur, contrast, low, gamma, noise}, p},
      {"many stages",
       {window, bright, bright, bright, bright, bright, bright, bright, bright, noise, bright},
       p},
      {"whole",
       {affine, elastic, foreground, noise, blur, bright, contrast, low, inverted, gamma},
       p},
      {"SUV", {affine, WindowSuvSpec{-2, 4}, noise}, p, {35.2, 44.7, 55.1}, {1.6, 1.4, 1.5}, pet},
      {"SUV outside", {affine}, p, {-200, -200, -200}, {1.6, 1.4, 1.5}, pet},
      {"one row", {affine, elastic, window, noise, gamma, blur, low}, {{1, 1, 5}, {1, 1, 1}}},
      {"one column", {affine, elastic, window, noise, blur}, {{7, 30, 1}, {1, 1, 1}}}};
}

}  // namespace headrace::transform::fixtures
