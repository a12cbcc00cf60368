#pragma once
// The kernel cases: every path of the kernels once, at sizes that are not a multiple of a pack.
// Each back end and instruction set runs them all; their bytes must be equal.
#include <string>
#include <vector>

#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "tissue.hpp"

namespace headrace::transform::fixtures {

struct KernelCase {
  std::string name;
  std::vector<TransformSpec> specs;
  PatchSpec patch;
  int context = 1;
  std::array<double, 2> centre{300.3, 310.7}, mpp{0.5, 0.5};
};

inline ImageColour some_colour() {
  ImageColour c;
  c.stain_od_rgb_he = {0.61, 0.12, 0.68, 0.87, 0.41, 0.47};
  c.max_concentration = {1.1, 0.7};
  c.has_stain = true;
  c.scanner_od_mean = {0.21, 0.35, 0.18};
  c.scanner_od_std = {0.15, 0.2, 0.12};
  c.cohort_od_mean = {0.25, 0.33, 0.2};
  c.cohort_od_std = {0.17, 0.18, 0.13};
  c.has_scanner = true;
  return c;
}

inline std::vector<KernelCase> kernel_cases() {
  const AffineSpec affine{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, true};
  const ElasticSpec elastic{8, 15, 1};
  const HedJitterSpec hed{0.05};
  const ColorJitterSpec jitter{0.25, 0.25, 0.25, 0.04};
  const GaussianNoiseSpec noise{{0.01, 0.02}, 1};
  const BlurSpec blur{{0.7, 2.5}, 1};
  const NormalizeSpec norm{{0.7, 0.55, 0.7}, {0.2, 0.22, 0.18}};
  const PatchSpec p{67, 93, 0.5, {1, 2, 4}};
  const PatchSpec tiny{1, 5, 0.5, {1}}, narrow{70, 3, 0.5, {1}};
  return {
      {"copy", {}, p},
      {"affine", {affine}, p},
      {"elastic", {elastic}, p},
      {"elastic fine grid", {ElasticSpec{31, 4, 1}}, p},
      {"geometry of context 4", {affine, elastic}, p, 4},
      {"geometry over the level's edge", {affine, elastic}, p, 1, {12, 595}},
      {"outside the level", {affine}, p, 1, {-400, -400}},
      {"anisotropic level", {affine, elastic}, p, 2, {300, 300}, {0.41, 0.73}},
      {"stain", {StainNormalizeSpec{}}, p},
      {"scanner and jitters", {ScannerColorSpec{}, hed, jitter}, p},
      {"RGB between densities", {hed, jitter, hed, jitter, StainNormalizeSpec{}}, p},
      {"noise", {noise}, p},
      {"noise first", {noise, hed, jitter, norm}, p},
      {"blur", {blur}, p},
      {"blur amid colours", {hed, blur, jitter, noise, norm}, p},
      {"noise before blur", {noise, blur, norm}, p},
      {"whole", {affine, elastic, StainNormalizeSpec{}, hed, jitter, noise, norm}, p},
      {"whole of context 2 at the edge",
       {affine, elastic, StainNormalizeSpec{}, hed, jitter, noise, norm},
       p,
       2,
       {30, 30}},
      {"one row", {affine, elastic, noise}, tiny},
      {"three columns", {affine, elastic, blur, noise}, narrow},
  };
}

}  // namespace headrace::transform::fixtures
