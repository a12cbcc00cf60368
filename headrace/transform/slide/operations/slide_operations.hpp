#pragma once
#include <variant>

#include "headrace/transform/slide/operations/slide_affine.hpp"
#include "headrace/transform/slide/operations/slide_blur.hpp"
#include "headrace/transform/slide/operations/slide_color_jitter.hpp"
#include "headrace/transform/slide/operations/slide_elastic.hpp"
#include "headrace/transform/slide/operations/slide_gaussian_noise.hpp"
#include "headrace/transform/slide/operations/slide_hed_jitter.hpp"
#include "headrace/transform/slide/operations/slide_normalize.hpp"
#include "headrace/transform/slide/operations/slide_scanner_color.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"

namespace headrace::transform {

/// The registry: one struct for each entry of `transforms:` in a run on slides, in the order in
/// which an error lists them. A range [low, high] of a struct is drawn uniformly. Each has
///
/// kName      its key in the run config
/// kOnce      a list holds at most one
/// kGeometry  it moves pixels and leaves their values; it may stand behind normalize
/// fields     its options, each with its limits: how configs are read, recorded and described
/// draw       draws its random numbers, always in the same order, and adds its part of the sample
///
/// A struct rather than an alias, so that it can be declared without these headers
/// (slide_transform_list.hpp).
struct TransformSpec
    : std::variant<AffineSpec, ElasticSpec, StainNormalizeSpec, ScannerColorSpec, HedJitterSpec,
                   ColorJitterSpec, GaussianNoiseSpec, BlurSpec, NormalizeSpec> {
  using Variant = variant;
  using variant::variant;
};

}  // namespace headrace::transform
