#pragma once
#include <cstdint>
#include <string>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/predict/volume/body_profile.hpp"

namespace headrace::predict {

enum class Third { lower, middle, upper };

/// Distances up to this from the middle are called near it.
inline constexpr double kNearMiddleMm = 10;

/// Where a point lies in the scanned body, as a reader would say it.
///
/// The level is a third of the slices from the lowest to the highest one with body, along the z
/// axis of the stored grid; it says nothing about anatomy, since a scan may show any part of the
/// body. The middle is the mean place of the body's voxels in the point's slice; distances from it
/// are along the patient's own axes (LPS), through the affine. Without body in that slice (or in
/// any) the image's centre (all slices) takes its place, and the words say so.
struct PlaceInBody {
  Third third = Third::middle;
  bool third_of_body = false;   ///< else of the scan
  std::int64_t slice = 0;       ///< z index, 0 is the lowest
  std::int64_t slices = 0;      ///< of the scan
  double z_mm = 0;              ///< LPS
  double left_mm = 0;           ///< of the middle, to the patient's left; negative to the right
  double behind_mm = 0;         ///< of the middle, to the back; negative to the front
  bool middle_of_body = false;  ///< else of the image

  /// "upper third of the scanned body, slice 212 of 400 from below, z = -123.4 mm; 34 mm left of
  /// the midline; posterior, 21 mm behind the body's centre". Slices are counted from 1.
  std::string text() const;
  Json to_json() const;
};

/// `index_xyz`: a point in the grid, in voxel indices with fractions. `body` has a slice for each
/// of the grid.
PlaceInBody place_in_body(const imaging::Vec3& index_xyz, const imaging::VolumeGrid& grid,
                          const BodyProfile& body);

}  // namespace headrace::predict

namespace headrace {
template <>
inline constexpr auto kNamesOf<predict::Third> = names<predict::Third>({
    {predict::Third::lower, "lower"},
    {predict::Third::middle, "middle"},
    {predict::Third::upper, "upper"},
});
}  // namespace headrace
