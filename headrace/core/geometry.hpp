#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace headrace {

/// A row-major 2×3 affine map of (y, x) pixel coordinates: out = m[:, :2] · in + m[:, 2].
/// Coordinates are continuous; the centre of pixel (0, 0) is (0.5, 0.5) everywhere in Headrace.
struct Affine2 {
  std::array<double, 6> m{1, 0, 0, 0, 1, 0};

  std::array<double, 2> operator()(double y, double x) const {
    return {m[0] * y + m[1] * x + m[2], m[3] * y + m[4] * x + m[5]};
  }
  /// First `inner`, then this.
  Affine2 operator*(const Affine2& inner) const {
    const auto& a = m;
    const auto& b = inner.m;
    return {{a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
             a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4],
             a[3] * b[2] + a[4] * b[5] + a[5]}};
  }
};

/// A half-open box of pixels: rows [y0, y0 + height), columns [x0, x0 + width).
struct Box2 {
  std::int64_t y0 = 0, x0 = 0, height = 0, width = 0;
  bool operator==(const Box2&) const = default;
};

/// A row-major 3×4 affine map of (z, y, x) voxel coordinates: out = m[:, :3] · in + m[:, 3].
struct Affine3 {
  std::array<double, 12> m{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

  std::array<double, 3> operator()(const std::array<double, 3>& v) const {
    std::array<double, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
      out[i] = m[4 * i] * v[0] + m[4 * i + 1] * v[1] + m[4 * i + 2] * v[2] + m[4 * i + 3];
    }
    return out;
  }
  /// First `inner`, then this.
  Affine3 operator*(const Affine3& inner) const {
    Affine3 out;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        out.m[4 * i + j] = m[4 * i] * inner.m[j] + m[4 * i + 1] * inner.m[4 + j] +
                           m[4 * i + 2] * inner.m[8 + j] + (j == 3 ? m[4 * i + 3] : 0.0);
      }
    }
    return out;
  }
};

/// A half-open box of voxels: [origin, origin + size) along each of (z, y, x).
struct Box3 {
  std::array<std::int64_t, 3> origin_zyx{}, size_zyx{};
  std::int64_t voxels() const { return size_zyx[0] * size_zyx[1] * size_zyx[2]; }
  bool operator==(const Box3&) const = default;
};

}  // namespace headrace
