#pragma once
#include <array>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/imaging/volume/slice_places.hpp"

namespace headrace::imaging {

// slices: where those of the source lie, on which labels were drawn; they go with their slice.

/// DICOM Segmentation (PS3.3 A.51), frames placed by their positions, on the grid of its image.
/// Read: BINARY (one bit a voxel), FRACTIONAL (a voxel counts from half of the maximum on),
/// LABELMAP (8 and 16 bit); for CT, not for tiled slides. Where segments overlap the later one
/// wins, and a note says so, as of frames on slices that the image does not have.
/// errors  malformed (frames on another pixel grid, or all outside the image: both are given),
///         unsupported, corrupt
NamedLabels read_dicom_segmentation(const std::string& path, const VolumeGrid& image,
                                    const WantedName& wanted = {}, const SlicePlaces& slices = {});

/// RT structure set (PS3.3 A.19): closed planar contours, filled at voxel centres, each contour on
/// the slice nearest to it; one within another is a hole, those that cross are one area, and those
/// of CLOSEDPLANAR_XOR follow the even-odd rule. Slices are the planes of the image in which the
/// contours lie, whatever its axis order; a structure may have been drawn on others than the rest. A later structure paints over an earlier one. Notes say
/// which contours are left out (points and lines, outside the image or between its slices, the same
/// twice) or joined, which slices between contours have none, and which are filled, as the
/// contours' thickness states.
/// out     unpainted  structures without a voxel
/// errors  malformed, unsupported (an image that is not axis-aligned to its contours)
NamedLabels read_structure_set(const std::string& path, const VolumeGrid& image,
                               const WantedName& wanted = {}, const SlicePlaces& slices = {});

/// What a DICOM object names, without its voxels: segments or structures, in the file's order.
struct DicomLabelNames {
  DicomObject object = DicomObject::other;  ///< other: not a label map
  std::vector<std::string> names;           ///< in UTF-8
  /// YYYYMMDDHHMMSS: when its content was stated (StructureSetDate, ContentDate), when the file was
  /// made, and the series; each empty where it is not known. For comparison alone.
  std::array<std::string, 3> written;
};
/// Errors: malformed, unsupported; names the file.
DicomLabelNames read_label_names(const std::string& path);

}  // namespace headrace::imaging
