#pragma once
#include <functional>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/volume/label_volume.hpp"

namespace headrace::imaging {

/// A label map made from a DICOM object. Value k stands for names[k]; 0 is background. Names are
/// the object's own words for structures ("Liver", "GTV_Mass"); the caller checks them against its
/// classes before it keeps any.
struct DicomLabels {
  LabelVolume volume;
  std::vector<std::string> names;
};

/// Whether a segment or structure is to be read; the others do not paint over anything. Empty: all
/// are read.
using WantedName = std::function<bool(const std::string&)>;

/// DICOM Segmentation (PS3.3 A.51), frames placed by their positions, on the grid of its image.
/// Read: BINARY (one bit a voxel), FRACTIONAL (a voxel counts from half of the maximum on),
/// LABELMAP (8 and 16 bit); for CT, not for tiled slides. Where segments overlap the later one
/// wins, and a note says so.
/// errors  malformed (frames that lie off the image's slices or on another pixel grid: both are
///         given), unsupported, corrupt
DicomLabels read_dicom_segmentation(const std::string& path, const VolumeGrid& image,
                                    const WantedName& wanted = {});

/// RT structure set (PS3.3 A.19): closed planar contours, filled by the even-odd rule at voxel
/// centres, each contour on the slice nearest to it; slices are the planes of the image in which
/// the contours lie, whatever its axis order. A later structure paints over an earlier one.
/// errors  malformed (contours off the image's slices: how far), unsupported (an image that is not
///         axis-aligned to its contours)
DicomLabels read_structure_set(const std::string& path, const VolumeGrid& image,
                               const WantedName& wanted = {});

/// What a DICOM object names, without its voxels: segments or structures, in the file's order.
struct DicomLabelNames {
  DicomObject object = DicomObject::other;  ///< other: not a label map
  std::vector<std::string> names;
};
/// Errors: malformed, unsupported; names the file.
DicomLabelNames read_label_names(const std::string& path);

}  // namespace headrace::imaging
