#pragma once
#include <cstddef>
#include <cstdint>

#include "headrace/math/half.hpp"

namespace headrace::transform {

enum class Element : std::int32_t { float32, float16, bfloat16 };
enum class Layout : std::int32_t {
  channels_first,  ///< (channels, pixels): NCHW, NCDHW
  channels_last    ///< (pixels, channels): NHWC, NDHWC
};
HR_HD constexpr std::size_t bytes_of(Element element) {
  return element == Element::float32 ? 4 : 2;
}

/// How the values of a batch are stored, to suit the model's input.
struct TensorFormat {
  Element element = Element::float32;
  Layout layout = Layout::channels_first;
  bool operator==(const TensorFormat&) const = default;
};

/// The destination of one sample's values. Values are rounded once, from the float32 that every
/// back end computes, so the bytes are the same on each.
struct TensorOut {
  void* data;
  TensorFormat format;
  std::int32_t channels;
  std::int64_t pixels;

  HR_HD void store(std::int32_t channel, std::int64_t pixel, float value) const {
    const std::int64_t at = format.layout == Layout::channels_first ? channel * pixels + pixel
                                                                    : pixel * channels + channel;
    switch (format.element) {
      case Element::float32:
        static_cast<float*>(data)[at] = value;
        break;
      case Element::float16:
        static_cast<std::uint16_t*>(data)[at] = math::float16_bits(value);
        break;
      case Element::bfloat16:
        static_cast<std::uint16_t*>(data)[at] = math::bfloat16_bits(value);
        break;
    }
  }
};

/// float32 (channels, pixels) → `to`; for batches made on the CPU.
inline void convert(const float* planes, const TensorOut& to) {
  for (std::int32_t c = 0; c < to.channels; ++c) {
    for (std::int64_t i = 0; i < to.pixels; ++i) to.store(c, i, planes[c * to.pixels + i]);
  }
}

}  // namespace headrace::transform
