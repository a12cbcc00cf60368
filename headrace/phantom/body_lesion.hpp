#pragma once
#include <array>

#include "headrace/phantom/tube.hpp"

namespace headrace::phantom {

/// A mass in the wall of the bowel: an ellipsoid with a bent surface that has exactly the requested
/// volume.
struct BodyLesion {
  Point3 centre{};             ///< in the body's real millimetres
  std::array<Point3, 3> axis;  ///< unit vectors
  Point3 half_axis{};          ///< mm
  float bend = 0;              ///< part of the radius that noise of 1 moves the surface by
  Point3 noise_at{};           ///< where in the noise this lesion's surface is
  float volume_mm3 = 0;
  float way = 0;  ///< of its middle along the colon, 0 cecum to 1 anus

  /// Radius of the surface in the direction of a unit vector, in parts of the ellipsoid's.
  float surface(const NoiseVolume& noise, const Point3& direction) const {
    const Point3 at = noise_at + direction * 1.4f;
    return 1.0f + bend * noise(at[0], at[1], at[2]);
  }
  /// About how many millimetres inside the surface a point lies; negative outside.
  float depth(const NoiseVolume& noise, const Point3& real) const;
  /// No voxel further than this from the centre belongs to it.
  float reach() const;
};

/// Scales the half axes, given in any unit, so that the lesion has `volume_mm3`.
void scale_to_volume(const NoiseVolume& noise, BodyLesion& lesion, float volume_mm3);

}  // namespace headrace::phantom
