#pragma once
// The work of the transform's benches, on every back end.
#include <cstdint>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"

namespace headrace::transform::bench {

/// Smooth tissue-like colours: pink ground, darker blue spots; the work does not depend on the
/// colours.
inline std::vector<std::uint8_t> tissue(std::int64_t size) {
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(size * size * 3 + 64));
  std::uint32_t state = 1;
  for (std::int64_t y = 0; y < size; ++y) {
    for (std::int64_t x = 0; x < size; ++x) {
      state = state * 1664525u + 1013904223u;
      const int grain = static_cast<int>(state >> 28);
      const bool nucleus = ((x / 9) * 7 + (y / 11) * 5) % 6 == 0;
      std::uint8_t* p = rgb.data() + (y * size + x) * 3;
      p[0] = static_cast<std::uint8_t>((nucleus ? 90 : 215) + grain);
      p[1] = static_cast<std::uint8_t>((nucleus ? 70 : 160) + grain);
      p[2] = static_cast<std::uint8_t>((nucleus ? 140 : 200) + grain);
    }
  }
  return rgb;
}

/// The colour statistics that ingest would find in these colours.
inline ImageColour colour_of(const std::vector<std::uint8_t>& tissue) {
  pixels::StainAccumulator stains;
  stains.add(tissue.data(), static_cast<std::int64_t>(tissue.size() - 64) / 3);
  const auto estimate = stains.estimate();
  if (!estimate) fail(ErrorCode::internal, "the bench's own tissue has no two stains");
  ImageColour colour;
  colour.stain_od_rgb_he = estimate->stain_od_rgb_he;
  colour.max_concentration = estimate->max_concentration;
  colour.has_stain = true;
  return colour;
}

struct Case {
  const char* op;
  std::vector<TransformSpec> specs;
};

inline std::vector<Case> cases() {
  const AffineSpec affine{{-180, 180}, {0.8, 1.25}, {-5, 5}, 0.1, false};
  const ElasticSpec elastic{21, 3, 1};  // cells of 24 px, control values of ± 6 px: about 3 px rms
  const StainNormalizeSpec macenko;
  const HedJitterSpec hed{0.05};
  const ColorJitterSpec colour{0.2, 0.2, 0.2, 0.05};
  const GaussianNoiseSpec noise{{0.02, 0.02}, 1};
  const NormalizeSpec norm{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
  return {{"copy", {}},
          {"affine", {affine}},
          {"elastic", {elastic}},
          {"affine+elastic", {affine, elastic}},
          {"macenko", {macenko}},
          {"hed", {hed}},
          {"colour", {colour}},
          {"noise", {noise}},
          {"norm", {norm}},
          {"blur-sigma-1", {BlurSpec{{1, 1}, 1}}},
          {"whole-nomac", {affine, elastic, hed, colour, noise, norm}},
          {"whole", {affine, elastic, macenko, hed, colour, noise, norm}}};
}

}  // namespace headrace::transform::bench
