#pragma once
#include <cstdint>

#include "headrace/transform/slide/patch_pixel.hpp"
#include "headrace/transform/tensor_format.hpp"

namespace headrace::transform {

/// Passes over a batch of patches of one size, with one thread for each (patch, pixel): a GPU runs
/// each as one launch for the whole batch. Arrays lie in the memory of the threads.

/// The tensor of a batch: patches of 3 × height × width values, one after the other.
struct BatchTensor {
  std::byte* data;
  TensorFormat format;
  std::int32_t height, width;

  HR_HD void store(std::int32_t patch, std::int32_t pixel, const math::Rgb<float>& v) const {
    const std::int64_t pixels = std::int64_t{height} * width;
    const auto bytes = static_cast<std::int64_t>(bytes_of(format.element));
    const TensorOut out{data + patch * 3 * pixels * bytes, format, 3, pixels};
    out.store(0, pixel, v.r);
    out.store(1, pixel, v.g);
    out.store(2, pixel, v.b);
  }
};

/// The first pass. A patch that is blurred afterwards has its own planes as dst; any other has a
/// null dst and goes to the tensor.
struct BatchPatchPixel {
  const PatchKernel* kernels;
  BatchTensor out;

  HR_HD void operator()(std::int32_t patch, std::int32_t pixel) const {
    const PatchKernel& k = kernels[patch];
    const math::Rgb<float> v = patch_value(k, pixel / k.width, pixel % k.width);
    if (k.dst == nullptr) {
      out.store(patch, pixel, v);
      return;
    }
    const std::int64_t plane = std::int64_t{k.height} * k.width;
    k.dst[pixel] = v.r;
    k.dst[plane + pixel] = v.g;
    k.dst[2 * plane + pixel] = v.b;
  }
};

/// What a patch that drew a blur needs in addition.
struct BlurredPatch {
  BlurKernel blur;          ///< blur.dst: (3, height, width), from the first pass
  RecolourKernel recolour;  ///< of the same planes
  float* rows;              ///< (3, height, width), working memory
  std::int32_t patch;       ///< number in the batch
};

/// Rows first, then columns, each over 3 · height · width values; then the rest of the colours.
struct BatchBlurRowPixel {
  const BlurredPatch* blurred;

  HR_HD void operator()(std::int32_t i, std::int32_t value) const {
    const BlurKernel& k = blurred[i].blur;
    const std::int32_t pixels = k.height * k.width, channel = value / pixels;
    const std::int32_t pixel = value - channel * pixels;
    blurred[i].rows[value] = blurred_along_row(k, k.dst + std::int64_t{channel} * pixels,
                                               pixel / k.width, pixel % k.width);
  }
};
struct BatchBlurColumnPixel {
  const BlurredPatch* blurred;

  HR_HD void operator()(std::int32_t i, std::int32_t value) const {
    const BlurKernel& k = blurred[i].blur;
    const std::int32_t pixels = k.height * k.width, channel = value / pixels;
    const std::int32_t pixel = value - channel * pixels;
    k.dst[value] = blurred_along_column(k, blurred[i].rows + std::int64_t{channel} * pixels,
                                        pixel / k.width, pixel % k.width);
  }
};
struct BatchRecolourPixel {
  const BlurredPatch* blurred;
  BatchTensor out;

  HR_HD void operator()(std::int32_t i, std::int32_t pixel) const {
    const RecolourKernel& k = blurred[i].recolour;
    out.store(blurred[i].patch, pixel, recoloured_value(k, pixel / k.width, pixel % k.width));
  }
};

struct BatchLabelPixel {
  const LabelKernel* kernels;

  HR_HD void operator()(std::int32_t patch, std::int32_t pixel) const {
    const LabelKernel& k = kernels[patch];
    k.dst[pixel] = label_value(k, pixel / k.width, pixel % k.width);
  }
};

}  // namespace headrace::transform
