#include "headrace/imaging/volume/label_volume.hpp"

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/grid_place.hpp"
#include "headrace/imaging/volume/whole_values.hpp"

namespace headrace::imaging {
namespace {

/// A map with the image's own voxels: a scatter along the file's order, whatever its axes.
LabelVolume read_whole(const VolumeReader& labels, const VolumeGrid& image, const AxisMap& map) {
  LabelVolume out(image);
  const VolumeGrid& source = labels.info().grid;
  const VoxelPlaces places = places_of(map, image.shape_zyx);
  const auto& step = places.step_xyz;
  const std::int64_t width = source.shape_zyx[2], height = source.shape_zyx[1];
  std::vector<double> slice(static_cast<std::size_t>(source.slice_voxels()));
  WholeValues values;
  for (std::int64_t z = 0; z < source.shape_zyx[0]; ++z) {
    labels.read_slice(z, slice.data());
    for (std::int64_t y = 0; y < height; ++y) {
      std::uint16_t* row = out.voxels.data() + places.start + z * step[2] + y * step[1];
      for (std::int64_t x = 0; x < width; ++x)
        row[x * step[0]] = values.take(slice[y * width + x], x, y, z);
    }
  }
  values.check();
  out.notes = values.notes();
  return out;
}

/// A map of a part of the image's voxels.
LabelVolume read_part(const VolumeReader& labels, const VolumeGrid& image, const GridPlace& place) {
  LabelVolume out(image);
  const VolumeGrid& source = labels.info().grid;
  const auto [depth, height, width] = source.shape_zyx;
  std::vector<double> slice(static_cast<std::size_t>(source.slice_voxels()));
  WholeValues values;
  std::uint64_t covered = 0, outside = 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    labels.read_slice(z, slice.data());
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::uint16_t value = values.take(slice[y * width + x], x, y, z);
        const auto at = element_of(place(x, y, z), image);
        if (at) {
          out.voxels[static_cast<std::size_t>(*at)] = value;
          ++covered;
        } else {
          outside += value != 0;
        }
      }
    }
  }
  values.check();
  out.notes = values.notes();
  add_crop_note(covered, outside, source, out);
  return out;
}

}  // namespace

void off_grid(const VolumeGrid& labels, const VolumeGrid& image) {
  fail(ErrorCode::malformed,
       "the mask lies on another grid than its image. Mask: {}. Image: {}. Resample the mask to "
       "the image's grid (nearest "
       "neighbour).",
       labels.text(), image.text());
}

void add_crop_note(std::uint64_t covered, std::uint64_t outside, const VolumeGrid& source,
                   LabelVolume& labels) {
  if (outside > 0) {
    fail(ErrorCode::malformed,
         "{} labelled voxels of the mask lie outside of its image. Mask: {}. Image: {}. The mask "
         "belongs to another image.",
         outside, source.text(), labels.grid.text());
  }
  const auto all = static_cast<std::uint64_t>(labels.grid.voxels());
  if (covered < all) {
    labels.notes.push_back(make_note(NoteCode::mask_cropped, {static_cast<double>(all - covered)}));
  }
}

void check_label_grid(const VolumeGrid& labels, const VolumeGrid& image, Extent extent) {
  if (match_grids(labels, image)) return;
  if (extent == Extent::whole || !place_on_grid(labels, image)) off_grid(labels, image);
}

LabelVolume read_label_volume(const VolumeReader& labels, const VolumeGrid& image, Extent extent) {
  const VolumeGrid& source = labels.info().grid;
  if (const auto map = match_grids(source, image)) return read_whole(labels, image, *map);
  const auto place = extent == Extent::part ? place_on_grid(source, image) : std::nullopt;
  if (!place) off_grid(source, image);
  return read_part(labels, image, *place);
}

}  // namespace headrace::imaging
