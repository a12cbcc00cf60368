#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::cohort {

struct VolumeLevel {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{};
  /// Voxels of level 0 a voxel, 1 or 2^k along each axis: level-0 position / downsample is the
  /// position on this level.
  std::array<double, 3> downsample_zyx{1, 1, 1};
};

/// One channel of a volume in a store of several; all lie on the volume's grid.
struct VolumeChannel {
  std::string name;
  IntensityUnit unit = IntensityUnit::hu;  ///< of its values; arrays hold stored_per_unit of them
  bool stored = true;                      ///< false: the volume lacks it
  IntensityStats body;                     ///< of its voxels inside the body mask
};

/// The unit of a channel as the store states it, with its scale. `where`: words in front of the
/// error. Errors: malformed; unsupported (another unit or scale than this version stores).
IntensityUnit parse_channel_unit(const Json& channel, const std::string& where);

/// Where a channel lies below its image, counted from 0: "" of the first, "channels/1" of the next.
inline std::string channel_folder(std::size_t channel) {
  return channel == 0 ? "" : "channels/" + std::to_string(channel);
}
/// Name of its histogram below a label group.
inline std::string label_histogram_name(std::size_t channel) {
  return channel == 0 ? "histogram" : "histogram-" + std::to_string(channel);
}

/// Voxels are stored in canonical order: x grows to the patient's left, y to the back, z up.
///
/// What an image of a store of kind "volume" has in addition to an image of any kind.
struct VolumeRecord {
  std::vector<VolumeLevel> levels;
  std::array<double, 16> affine_lps{};  ///< voxel index (x, y, z) → LPS millimetres, row-major
  imaging::VolumeGrid file_grid;        ///< grid of the source file
  imaging::AxisMap from_file;           ///< from the file's axes to the stored ones
  std::string phase;                    ///< native, arterial, portal-venous, delayed or unknown
  IntensityStats body;                  ///< of the (first channel's) voxels inside the body mask
  std::vector<VolumeChannel> channels;  ///< empty in a store of one channel
};

/// The sampler's index: where a volume has body, and where it has each class. Cells are boxes of
/// level 0, sorted by (z, y, x).
struct VolumeCellIndex {
  std::array<std::int32_t, 3> cell_size_zyx{};           ///< edges in voxels of level 0
  std::vector<std::array<std::uint32_t, 3>> cell_zyx;    ///< voxels / cell_size
  std::vector<std::uint32_t> body_voxels;                ///< of each cell
  std::vector<std::vector<std::uint32_t>> class_voxels;  ///< [class][cell]
};

/// How often each stored value occurs, ascending, without values that occur in neither.
struct VolumeHistogram {
  std::vector<std::int32_t> stored;
  std::vector<std::uint64_t> body, foreground;  ///< in the body; under a label above 0
};

/// One connected component of a class: a row of a label image's lesions.
struct VolumeLesion {
  std::uint8_t class_value = 0;
  std::uint64_t voxels = 0;
  double volume_mm3 = 0;
  std::array<double, 3> centre_lps_mm{};
  std::array<std::int64_t, 3> box_zyx{}, size_zyx{};  ///< its bounding box in voxels of level 0
};

}  // namespace headrace::cohort
