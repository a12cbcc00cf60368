#pragma once
#include <cstdint>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/transform/slide/patch_kernel.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace headrace::transform {

/// Control values in window pixels, and a pack after the last; a kernel points into them.
struct ControlPixels {
  std::vector<float> y, x;
};

/// Composes everything in double and rounds once to the plain struct that a back end applies to
/// every pixel. Errors: internal (the window is not the geometry's), memory (2 GiB or more).
PatchKernel patch_kernel(const SampleParams& params, const PatchSpec& patch,
                         const PatchGeometry& geometry, const ImageView& view, const Box2& extent,
                         float* dst, ControlPixels& controls);
LabelKernel label_kernel(const SampleParams& params, const PatchSpec& patch,
                         const PatchGeometry& geometry, const ImageView& view, const Box2& extent,
                         std::uint8_t outside, std::uint8_t* dst, ControlPixels& controls);

}  // namespace headrace::transform
