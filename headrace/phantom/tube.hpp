#pragma once
#include <array>
#include <span>
#include <vector>

#include "headrace/phantom/noise_volume.hpp"

namespace headrace::phantom {

using Point3 = std::array<float, 3>;  ///< x, y, z in millimetres

inline Point3 operator+(const Point3& a, const Point3& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point3 operator-(const Point3& a, const Point3& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point3 operator*(const Point3& a, float s) { return {a[0] * s, a[1] * s, a[2] * s}; }
inline float dot(const Point3& a, const Point3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Part of a tube: a sphere on its middle line.
struct Bead {
  Point3 at;
  float radius;
  float mm;  ///< way along the tube
};

/// A knot of a tube's middle line.
struct Knot {
  Point3 at;
  float radius;
};

/// Beads about `step_mm` apart on the Catmull-Rom spline through the knots; radii in between are
/// blended. fold_mm and fold: haustra, every so many millimetres the radius shrinks by this part of
/// it.
std::vector<Bead> beads_of(std::span<const Knot> knots, float step_mm, float fold_mm, float fold);

}  // namespace headrace::phantom
