#pragma once
#include <variant>

#include "headrace/transform/volume/operations/volume_affine.hpp"
#include "headrace/transform/volume/operations/volume_blur.hpp"
#include "headrace/transform/volume/operations/volume_brightness.hpp"
#include "headrace/transform/volume/operations/volume_clip_percentiles.hpp"
#include "headrace/transform/volume/operations/volume_contrast.hpp"
#include "headrace/transform/volume/operations/volume_elastic.hpp"
#include "headrace/transform/volume/operations/volume_gamma.hpp"
#include "headrace/transform/volume/operations/volume_gaussian_noise.hpp"
#include "headrace/transform/volume/operations/volume_low_resolution.hpp"
#include "headrace/transform/volume/operations/volume_normalize.hpp"
#include "headrace/transform/volume/operations/volume_window.hpp"

namespace headrace::transform {

/// The registry: one struct for each entry of `transforms:` in a run on volumes, in the order in
/// which an error lists them. A range [low, high] of a struct is drawn uniformly. Geometry is drawn
/// once for all channels of a volume, all else for each channel on its own. Each has
///
/// kName      its key in the run config
/// kOnce      a list holds at most one for a channel
/// channel    the channel that it is for; geometry has no such member
/// value_use  where it may stand in the list
/// fields     its options, each with its limits: how configs are read, recorded and described
/// check      where it has one: what several options together must fulfil
/// draw       draws its random numbers, always in the same order, and adds its part of the sample
///
/// A struct rather than an alias, so that it can be declared without these headers
/// (volume_transform_list.hpp).
struct VolumeTransformSpec : std::variant<VolumeAffineSpec, VolumeElasticSpec, WindowHuSpec,
                                          WindowSuvSpec, ClipPercentilesSpec, VolumeNormalizeSpec,
                                          VolumeBrightnessSpec, VolumeContrastSpec, VolumeGammaSpec,
                                          VolumeNoiseSpec, VolumeBlurSpec, LowResolutionSpec> {
  using Variant = variant;
  using variant::variant;
};

}  // namespace headrace::transform
