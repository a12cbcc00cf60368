#include "headrace/phantom/body_lesion.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::phantom {
namespace {

/// Cube root by Newton's method: no libm function but sqrt decides a voxel.
double cube_root(double value) {
  double root = value > 1 ? value / 3 + 1 : 1;
  for (int i = 0; i < 60; ++i) root -= (root * root * root - value) / (3 * root * root);
  return root;
}

/// Mean of surface^3 over all directions: a cube's faces, each point weighted by its solid angle.
double mean_cube(const NoiseVolume& noise, const BodyLesion& lesion) {
  constexpr int kEdge = 32;
  double sum = 0, weights = 0;
  for (int face = 0; face < 6; ++face) {
    for (int i = 0; i < kEdge; ++i) {
      for (int j = 0; j < kEdge; ++j) {
        const float u = (static_cast<float>(i) + 0.5f) * (2.0f / kEdge) - 1;
        const float v = (static_cast<float>(j) + 0.5f) * (2.0f / kEdge) - 1;
        Point3 at{};
        const auto k = static_cast<std::size_t>(face >> 1);
        at[k] = (face & 1) ? 1.0f : -1.0f;
        at[(k + 1) % 3] = u;
        at[(k + 2) % 3] = v;
        const float length = std::sqrt(dot(at, at));
        const auto s = static_cast<double>(lesion.surface(noise, at * (1 / length)));
        const double weight = 1 / (static_cast<double>(length) * static_cast<double>(length) *
                                   static_cast<double>(length));
        sum += weight * s * s * s;
        weights += weight;
      }
    }
  }
  return sum / weights;
}

}  // namespace

float BodyLesion::depth(const NoiseVolume& noise, const Point3& real) const {
  const Point3 off = real - centre;
  const Point3 in{dot(off, axis[0]) / half_axis[0], dot(off, axis[1]) / half_axis[1],
                  dot(off, axis[2]) / half_axis[2]};
  const float radius = std::sqrt(dot(in, in));
  const float mean = (half_axis[0] + half_axis[1] + half_axis[2]) * (1.0f / 3);
  if (radius < 1e-4f) return mean;
  return (surface(noise, in * (1 / radius)) - radius) * mean;
}

float BodyLesion::reach() const {
  return (1 + bend) * std::max({half_axis[0], half_axis[1], half_axis[2]});
}

void scale_to_volume(const NoiseVolume& noise, BodyLesion& lesion, float volume_mm3) {
  constexpr double kSphere = 4.18879020478639;  // 4/3 pi
  const double now = kSphere * static_cast<double>(lesion.half_axis[0]) *
                     static_cast<double>(lesion.half_axis[1]) *
                     static_cast<double>(lesion.half_axis[2]) * mean_cube(noise, lesion);
  const double scale = cube_root(static_cast<double>(volume_mm3) / now);
  for (float& half : lesion.half_axis) half = static_cast<float>(static_cast<double>(half) * scale);
  lesion.volume_mm3 = volume_mm3;
}

}  // namespace headrace::phantom
