#pragma once
#include <cstdint>
#include <type_traits>

#include "headrace/math/polynomials.hpp"
#include "headrace/transform/noise_kernel.hpp"
#include "headrace/transform/volume/patch_statistics.hpp"

namespace headrace::transform {

/// linear    clamp((v - a)·b + c, low, high)
/// gamma     ((v - a)·b)^power·d + c, where (v - a)·b is in 0..1
/// noise     v + power·normal deviate
/// contrast  linear once the patch's mean and range are known; power is the factor
/// stretch   gamma once the patch's range is known
/// restore   linear once mean and standard deviation before and after are known
enum class VolumeStageKind : std::int32_t { linear, gamma, noise, contrast, stretch, restore };

/// One operation on a value.
struct VolumeStage {
  static constexpr float kNoLimit = 3e38f;

  VolumeStageKind kind = VolumeStageKind::linear;
  float a = 0, b = 1, c = 0, d = 1;
  float low = -kNoLimit, high = kNoLimit;
  float power = 1;
  bool flag = false;  ///< contrast: preserve the range; stretch: of the negated image
  /// Passes whose statistics it takes: those of its input, and for restore those of the gamma's
  /// input.
  std::int32_t input = -1, before = -1;
  std::uint32_t stream = 0;  ///< noise: third counter word
};

/// The stages of one pass; those that need statistics resolved by `resolve`.
struct VolumeStages {
  static constexpr int kMax = 8;
  VolumeStage stage[kMax];
  std::int32_t count = 0;
  std::uint32_t key0 = 0, key1 = 0, counter3 = 0;  ///< of the sample's noise
};
static_assert(std::is_trivially_copyable_v<VolumeStages>);

/// A stage with its statistics put in. `passes`: one for each pass before.
HR_HD VolumeStage resolve(const VolumeStage& s, const PatchStatistics* passes) {
  VolumeStage out = s;
  if (s.kind == VolumeStageKind::contrast) {
    const PatchStatistics& now = passes[s.input];
    out.kind = VolumeStageKind::linear;
    out.a = out.c = static_cast<float>(now.mean);
    out.b = s.power;
    if (s.flag) {
      out.low = now.low;
      out.high = now.high;
    }
  } else if (s.kind == VolumeStageKind::stretch) {
    const PatchStatistics& now = passes[s.input];
    const float range = now.high - now.low;
    const float inverse = range > 1e-7f ? 1.0f / range : 0.0f;
    out.kind = VolumeStageKind::gamma;
    out.a = out.c = s.flag ? now.high : now.low;
    out.b = s.flag ? -inverse : inverse;
    out.d = s.flag ? -range : range;
  } else if (s.kind == VolumeStageKind::restore) {
    const PatchStatistics &now = passes[s.input], &before = passes[s.before];
    const double scale = before.std / (now.std > 1e-7 ? now.std : 1e-7);
    out.kind = VolumeStageKind::linear;
    out.a = static_cast<float>(now.mean);
    out.b = static_cast<float>(scale);
    out.c = static_cast<float>(before.mean);
  }
  return out;
}

/// A resolved stage on one value a lane; noise with its normal deviates.
template <typename F>
HR_HD F apply_noise(const VolumeStage& s, F v, F deviate) {
  return v + deviate * s.power;
}
template <typename F>
HR_HD F apply_linear(const VolumeStage& s, F v) {
  return math::clamp_to((v - s.a) * s.b + s.c, s.low, s.high);
}
template <typename F>
HR_HD F apply_gamma(const VolumeStage& s, F v) {
  const F zero = math::Memory<F>::splat(0.0f);
  const F part = math::clamp_to((v - s.a) * s.b, 0.0f, 1.0f);
  const F limited = math::max_of(part, math::Memory<F>::splat(1e-30f));
  const F power = math::exp2_of(math::log2_of(limited) * s.power);
  return math::select(part > zero, power, zero) * s.d + s.c;
}

/// Normal deviates of a patch of one channel: in each group of 32 voxels of a row, Philox block l
/// holds those of voxels l, l + 8, l + 16 and l + 24.
HR_HD NoiseStream stream_of(const VolumeStages& stages, const VolumeStage& s) {
  return {stages.key0, stages.key1, s.stream, stages.counter3};
}
template <typename F>
HR_HD math::Normal4<F> noise_group(const NoiseStream& stream, std::int32_t row, std::int32_t group,
                                   math::UintOf<F> lane) {
  return noise_of<F>(stream, row, static_cast<std::uint32_t>(group * 8), lane);
}
HR_HD float noise_of_voxel(const NoiseStream& stream, std::int32_t row, std::int32_t column) {
  const auto four =
      noise_group<float>(stream, row, column >> 5, static_cast<std::uint32_t>(column & 7));
  const std::int32_t n = (column >> 3) & 3;
  return n == 0 ? four.v[0] : n == 1 ? four.v[1] : n == 2 ? four.v[2] : four.v[3];
}

/// All stages of a pass on one voxel; `row` counts rows of the patch, slice after slice.
HR_HD float run_stages(const VolumeStages& stages, float v, std::int32_t row, std::int32_t column) {
  for (std::int32_t i = 0; i < stages.count; ++i) {
    const VolumeStage& s = stages.stage[i];
    if (s.kind == VolumeStageKind::noise) {
      v = apply_noise(s, v, noise_of_voxel(stream_of(stages, s), row, column));
    } else if (s.kind == VolumeStageKind::gamma) {
      v = apply_gamma(s, v);
    } else {
      v = apply_linear(s, v);
    }
  }
  return v;
}

}  // namespace headrace::transform
