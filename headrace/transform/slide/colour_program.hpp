#pragma once
#include <cstdint>

#include "headrace/math/colour.hpp"

namespace headrace::transform {

/// One step of the compiled colour graph. Values between steps are 0..255.
enum class StageKind : std::int32_t {
  density,  ///< affine in optical density
  linear,   ///< affine in RGB
  limit,    ///< clamp to 0..255
  noise,    ///< m[0] times a normal deviate is added to each channel
  scale     ///< v · (m[0], m[5], m[10]) + (m[3], m[7], m[11])
};
struct Stage {
  StageKind kind;
  math::Colour34 map;
};

/// The colour graph of one sample: plain, copied to where it runs.
struct ColourProgram {
  static constexpr int kMaxStages = 16;
  std::int32_t count = 0;
  Stage stages[kMaxStages];
};

/// Runs the program on one pixel a lane. `noise`: a normal deviate for each channel; not read
/// without a noise stage.
template <typename F>
HR_HD math::Rgb<F> run(const ColourProgram& program, math::Rgb<F> v, const math::Rgb<F>& noise) {
  for (std::int32_t i = 0; i < program.count; ++i) {
    const Stage& stage = program.stages[i];
    const float* m = stage.map.m;
    switch (stage.kind) {
      case StageKind::density:
        v = math::affine_density(stage.map, v);
        break;
      case StageKind::linear:
        v = math::affine_rgb(stage.map, v);
        break;
      case StageKind::limit:
        v = {math::clamp_to(v.r, 0.0f, 255.0f), math::clamp_to(v.g, 0.0f, 255.0f),
             math::clamp_to(v.b, 0.0f, 255.0f)};
        break;
      case StageKind::noise:
        v = {v.r + noise.r * m[0], v.g + noise.g * m[0], v.b + noise.b * m[0]};
        break;
      case StageKind::scale:
        v = {v.r * m[0] + m[3], v.g * m[5] + m[7], v.b * m[10] + m[11]};
        break;
    }
  }
  return v;
}

}  // namespace headrace::transform
