#include "headrace/imaging/volume/label_volume.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"

namespace headrace::imaging {

AxisMap map_onto_image(const VolumeGrid& source, const VolumeGrid& image) {
  const auto map = match_grids(source, image);
  if (!map) {
    fail(ErrorCode::malformed,
         "the mask lies on another grid than its image. Mask: {}. Image: {}. Resample the mask to "
         "the image's grid (nearest "
         "neighbour).",
         source.text(), image.text());
  }
  return *map;
}

LabelVolume read_label_volume(const VolumeReader& labels, const VolumeGrid& image) {
  const VolumeGrid& source = labels.info().grid;
  const AxisMap map = map_onto_image(source, image);
  LabelVolume out(image);
  // A scatter along the file's order, whatever its axes.
  const VoxelPlaces places = places_of(map, image.shape_zyx);
  const auto& step = places.step_xyz;
  const std::int64_t width = source.shape_zyx[2], height = source.shape_zyx[1];
  std::vector<double> slice(static_cast<std::size_t>(source.slice_voxels()));
  for (std::int64_t z = 0; z < source.shape_zyx[0]; ++z) {
    labels.read_slice(z, slice.data());
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint16_t* row = out.voxels.data() + places.start + z * step[2] + y * step[1];
      for (std::int64_t x = 0; x < width; ++x) {
        const double value = slice[y * width + x];
        if (!(value >= 0 && value <= 65535 && value == std::floor(value))) {
          fail(ErrorCode::malformed,
               "label at voxel (x {}, y {}, z {}) is {}, expected a whole number in 0..65535 (a "
               "class, not a probability).",
               x, y, z, value);
        }
        row[x * step[0]] = static_cast<std::uint16_t>(value);
      }
    }
  }
  return out;
}

}  // namespace headrace::imaging
