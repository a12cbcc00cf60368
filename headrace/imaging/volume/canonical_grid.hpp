#pragma once
#include <array>
#include <cstdint>
#include <cstring>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// A file's grid in the one order of stores: x index to the patient's left, y to the back, z up.
/// Its axes are those of the file, permuted and reversed, so no voxel is resampled.
struct CanonicalGrid {
  VolumeGrid grid;
  /// How the canonical axes lie on those of the file: index j (x, y, z) runs along axis[j] of the
  /// file, from its end when flip[j].
  AxisMap from_file;
};

/// The same voxels in another order: index j of the result runs along axis[j] of `source`, from its
/// end when flip[j].
VolumeGrid reordered(const VolumeGrid& source, const AxisMap& map);

/// Of the 48 orders (permutations and flips of the axes), the one whose directions are nearest to
/// left, back and up, which has the largest sum of direction cosines. Where an oblique grid lies
/// between two (sums within 1e-4, as at 45 degrees), its off-diagonal cosines decide, so that the
/// same body gets the same axes whatever the file's order.
///
/// Spacing is made tidy (tidy_spacing_mm), directions and origin are kept: the same body read from
/// DICOM, NIfTI, NRRD or MetaImage then has the same spacing to the last bit. Shapes as in the
/// file's grid, whose columns must be perpendicular.
CanonicalGrid canonical_grid(const VolumeGrid& file);

/// Millimetres as the shortest decimal that is the same number in float32: 0.699999988 → 0.7.
/// NIfTI keeps spacing in float32, DICOM, NRRD and MetaImage in decimals, and distances of slices
/// and lengths of oblique axes are computed; this makes them all one number. range: 1e-6 to 1e6;
/// changes less than 1.2e-7 of the value; applied again it changes nothing.
double tidy_spacing_mm(double mm);

/// tidy_spacing_mm of each axis: the spacing that a store states and all computation uses.
std::array<double, 3> tidy_spacing_mm_zyx(const VolumeGrid& grid);

/// The place of a file's voxels in an array of another axis order: (x, y, z) of the file is element
/// start + x · step[0] + y · step[1] + z · step[2].
struct VoxelPlaces {
  std::int64_t start = 0;
  std::array<std::int64_t, 3> step_xyz{};
};

/// map: how the axes of the array lie on those of the file. array_zyx: the array's shape.
VoxelPlaces places_of(const AxisMap& map, const std::array<std::int64_t, 3>& array_zyx);

/// Puts slice z of a file, (y, x), into its place in the array.
template <typename T>
void put_slice(const T* slice, const VolumeGrid& file, std::int64_t z, const VoxelPlaces& places,
               T* array) {
  const auto [depth, height, width] = file.shape_zyx;
  for (std::int64_t y = 0; y < height; ++y, slice += width) {
    T* row = array + places.start + z * places.step_xyz[2] + y * places.step_xyz[1];
    if (places.step_xyz[0] == 1) {
      std::memcpy(row, slice, static_cast<std::size_t>(width) * sizeof(T));
      continue;
    }
    for (std::int64_t x = 0; x < width; ++x) row[x * places.step_xyz[0]] = slice[x];
  }
}

/// The way back: slice z of the file's own grid, (y, x), out of an image, a mask or a result in
/// canonical order. Every export of voxels goes through it.
template <typename T>
void slice_in_file_order(const T* array, const VolumeGrid& file, std::int64_t z,
                         const VoxelPlaces& places, T* slice) {
  const auto [depth, height, width] = file.shape_zyx;
  for (std::int64_t y = 0; y < height; ++y, slice += width) {
    const T* row = array + places.start + z * places.step_xyz[2] + y * places.step_xyz[1];
    for (std::int64_t x = 0; x < width; ++x) slice[x] = row[x * places.step_xyz[0]];
  }
}

}  // namespace headrace::imaging
