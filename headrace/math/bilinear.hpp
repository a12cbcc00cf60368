#pragma once
#include <cstdint>

#include "headrace/math/clamp.hpp"

namespace headrace::math {

/// Red, green and blue of one pixel a lane.
template <typename F>
struct Rgb {
  F r, g, b;
};

/// 8-bit pixels in memory, and the part of them that exists.
struct PixelWindow {
  const std::uint8_t* data;
  std::int32_t row_stride;  ///< bytes; the whole window is under 2 GiB, so offsets fit int32
  float y_limit, x_limit;   ///< largest tap coordinates: 1/128 below height - 1 and width - 1
  std::int32_t valid_y0, valid_y1, valid_x0, valid_x1;  ///< rows and columns that the level has
};

template <typename F>
HR_HD F lerp(F a, F b, F t) {
  return a + t * (b - a);
}

template <typename F>
HR_HD F channel_of(IntOf<F> word, int shift) {
  return to_float((word >> shift) & 255);
}

/// Whether pixel (y, x) exists, lane by lane.
template <typename I>
HR_HD auto exists(const PixelWindow& w, I y, I x) {
  return (y >= w.valid_y0) & (y < w.valid_y1) & (x >= w.valid_x0) & (x < w.valid_x1);
}

/// Bilinear value of RGB24 pixels at tap coordinates: (y, x) is the centre of pixel (y, x). One
/// 32-bit gather a tap. Coordinates are limited to the window. With `kEdges` pixels that do not
/// exist read as white.
///
/// range   out [0, 255]
/// error   1e-4 of 255 against float64 at the same coordinates (Bilinear.MatchesDouble)
/// NaN     never; a NaN coordinate reads as 0
template <bool kEdges, typename F>
HR_HD Rgb<F> bilinear_rgb(const PixelWindow& w, F y, F x) {
  const F ly = clamp_to(y, 0.0f, w.y_limit);
  const F lx = clamp_to(x, 0.0f, w.x_limit);
  const auto iy = to_int(ly);
  const auto ix = to_int(lx);
  const F ty = ly - to_float(iy);
  const F tx = lx - to_float(ix);
  const auto offset = iy * w.row_stride + ix * 3;
  IntOf<F> p00, p01, p10, p11;
  gather_rgb_pair(w.data, offset, p00, p01);
  gather_rgb_pair(w.data + w.row_stride, offset, p10, p11);
  if constexpr (kEdges) {
    const auto white = p00 | 0x00FFFFFF;
    p00 = select(exists(w, iy, ix), p00, white);
    p01 = select(exists(w, iy, ix + 1), p01, white);
    p10 = select(exists(w, iy + 1, ix), p10, white);
    p11 = select(exists(w, iy + 1, ix + 1), p11, white);
  }
  const auto mix = [&](int shift) HR_LAMBDA {
    return lerp(lerp(channel_of<F>(p00, shift), channel_of<F>(p01, shift), tx),
                lerp(channel_of<F>(p10, shift), channel_of<F>(p11, shift), tx), ty);
  };
  return {mix(0), mix(8), mix(16)};
}

/// Value of the one-byte pixel that (y, x), in tap coordinates, falls into; `outside` where there
/// is none.
template <typename F>
HR_HD IntOf<F> nearest_byte(const PixelWindow& w, F y, F x, std::int32_t outside) {
  const auto iy = to_int(clamp_to(y + 0.5f, 0.0f, w.y_limit + 1.0f));
  const auto ix = to_int(clamp_to(x + 0.5f, 0.0f, w.x_limit + 1.0f));
  const auto word = gather32(w.data, iy * w.row_stride + ix);
  const auto value = word & 255;
  return select(exists(w, iy, ix), value, (value & 0) | outside);
}

}  // namespace headrace::math
