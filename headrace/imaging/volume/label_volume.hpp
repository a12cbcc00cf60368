#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// Why something that has a name paints no voxel.
struct Unpainted {
  std::size_t value = 0;  ///< of the name
  bool outside = false;   ///< all of it lies outside the image
  std::string text;       ///< a sentence without a full stop
};

/// A label map whose values have names. Value k stands for names[k]; 0 is background. Names are the
/// file's own words for structures ("Liver", "GTV_Mass"), in UTF-8; the caller checks them against
/// its classes before it keeps any.
struct NamedLabels {
  LabelVolume volume;
  std::vector<std::string> names;
  std::vector<Unpainted> unpainted;  ///< of the names that are read
};

/// Whether a name is to be read; the others do not paint over anything. Empty: all are read.
using WantedName = std::function<bool(const std::string&)>;

/// How much of its image a label map must cover.
enum class Extent {
  whole,
  part  ///< it may be cropped: background where it is not
};

/// Refuses a label map whose voxels do not lie on those of its image. Errors: malformed; the text
/// shows both grids.
void check_label_grid(const VolumeGrid& labels, const VolumeGrid& image,
                      Extent extent = Extent::whole);

/// Refuses a label map that lies on another grid. Errors: malformed; the text shows both.
[[noreturn]] void off_grid(const VolumeGrid& labels, const VolumeGrid& image);

/// Notes how many voxels of its image a cropped label map does not cover. Errors: malformed
/// (`outside`: labelled voxels that the image does not have).
void add_crop_note(std::uint64_t covered, std::uint64_t outside, const VolumeGrid& source,
                   LabelVolume& labels);

/// Reads a label map onto the grid of its image. Voxels must lie where the image's do
/// (kSameGridTolerance); axes may be swapped or reversed in the file, since its own affine says so.
/// Values within kWholeTolerance of a whole number are it, whatever type they have; notes say how
/// many were rounded, and how many voxels a cropped map does not cover.
///
/// errors  malformed: another grid (the text shows both), values that are no whole numbers in
/// 0..65535 (how many, and the first voxel), labels of a cropped map outside the image
/// cost    two bytes a voxel of the image
LabelVolume read_label_volume(const VolumeReader& labels, const VolumeGrid& image,
                              Extent extent = Extent::whole);

}  // namespace headrace::imaging
