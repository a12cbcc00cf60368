#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/volume/label_volume.hpp"

namespace headrace::imaging {

/// A segment of a segmentation of 3D Slicer (.seg.nrrd).
struct SlicerSegment {
  std::string name;  ///< in UTF-8
  std::int64_t layer = 0;
  std::uint16_t value = 1;  ///< of its voxels in the layer
};

/// Source: Slicer, vtkMRMLSegmentationStorageNode: SegmentN_Name, _Layer, _LabelValue.
struct SlicerSegments {
  std::int64_t layers = 1;
  std::vector<SlicerSegment> segments;
};

/// What a file says of its segments; none for other files, and for NRRD without segments. Errors:
/// malformed.
SlicerSegments slicer_segments(const std::string& path);

/// Whether a mask may be smaller than its image: a segmentation of 3D Slicer (by its name or its
/// segments) is cropped to what is painted.
Extent extent_of_mask(const std::string& path);

/// Reads a segmentation by the names of its segments onto the grid of its image; it may have layers
/// and be cropped to a part of the image's voxels. Where segments overlap the later layer wins, and
/// a note says so. Errors: as open_volume and read_label_volume.
NamedLabels read_slicer_segmentation(const std::string& path, const VolumeGrid& image,
                                     const WantedName& wanted = {});

}  // namespace headrace::imaging
