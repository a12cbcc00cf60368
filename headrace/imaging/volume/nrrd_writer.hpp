#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// One segment of a segmentation.
struct NrrdSegment {
  std::string name;
  std::uint8_t value = 0;  ///< of its voxels in the label map
  std::array<std::uint8_t, 3> rgb{};
  /// First and last voxel along x, y and z, as Slicer's Extent; -1 as last where it has no voxel.
  std::array<std::int64_t, 6> extent_xyz{0, -1, 0, -1, 0, -1};
};

/// Writes a label map as 3D Slicer reads it as a segmentation (.seg.nrrd): NRRD 4, uint8, gzip,
/// space left-posterior-superior, one layer, with the fields SegmentK_Name, _LabelValue, _Color and
/// the others of Slicer's own files. No time and no path enters it. It appears under its name only
/// when complete; the same voxels give the same bytes for any number of threads.
///
/// source  vtkMRMLSegmentationStorageNode of 3D Slicer (slicer.readthedocs.io, developer guide,
///         Segmentations); NRRD: teem.sourceforge.net/nrrd/format.html
/// in      path    ends in .seg.nrrd, by which Slicer knows it
///         render  fills slice z, (y, x) of labels; called from several threads
/// memory  a few slices for each thread
/// returns bytes written
/// errors  usage (no voxels; a name with a line break), io; what `render` throws passes through
std::uint64_t write_segmentation_nrrd(
    const std::string& path, const VolumeGrid& grid, std::span<const NrrdSegment> segments,
    ThreadPool& pool, const std::function<void(std::int64_t z, std::uint8_t* dst)>& render);

}  // namespace headrace::imaging
