#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// A label map in memory: one class a voxel, (z, y, x), on `grid`.
struct LabelVolume {
  VolumeGrid grid;
  std::vector<std::uint16_t> voxels;
  std::vector<Note> notes;

  LabelVolume() = default;
  explicit LabelVolume(const VolumeGrid& on)
      : grid(on), voxels(static_cast<std::size_t>(on.voxels())) {}
};

/// How the axes of a label map lie on those of its image. Errors: malformed, when it has other
/// voxels (the text shows both grids).
AxisMap map_onto_image(const VolumeGrid& labels, const VolumeGrid& image);

/// Reads a label map onto the grid of its image. Voxels must lie where the image's do
/// (kSameGridTolerance); axes may be swapped or reversed in the file, since its own affine says so.
///
/// errors  malformed: another grid (the text shows both), a value that is not an integer in
/// 0..65535 (names the voxel)
/// cost    two bytes a voxel of the image
LabelVolume read_label_volume(const VolumeReader& labels, const VolumeGrid& image);

}  // namespace headrace::imaging
