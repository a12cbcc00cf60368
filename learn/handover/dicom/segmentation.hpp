#pragma once
#include <string>

#include "headrace/core/enum_names.hpp"
#include "learn/handover/dicom/ct_prediction.hpp"

namespace headrace::handover {

enum class SegmentationKind {
  binary,      ///< one bit a voxel for each class; every viewer reads it
  fractional,  ///< the probability of each class, 0 to 255
  labelmap     ///< one byte a voxel: the segment number (Label Map Segmentation, DICOM 2024)
};

}  // namespace headrace::handover

namespace headrace {
template <>
inline constexpr auto kNamesOf<handover::SegmentationKind> =
    names<handover::SegmentationKind>({{handover::SegmentationKind::binary, "binary"},
                                       {handover::SegmentationKind::fractional, "fractional"},
                                       {handover::SegmentationKind::labelmap, "labelmap"}});
}  // namespace headrace

namespace headrace::handover {

/// Writes a DICOM Segmentation (PS3.3, A.51; label maps have their own SOP class) on the slices
/// of its series: number k of the object is segments[k - 1].
///
/// Only frames that hold something are written. A class without voxels keeps its segment and has no
/// frame. Where nothing was found at all, one frame of zeros (first slice, first segment) makes a
/// valid object, which says that it was looked for.
///
/// threads calls are independent
/// memory  the frames: bits (binary), or bytes
/// errors  as read_source_series; usage (sizes, no segment, fractional without a probability for
///         every segment); unsupported (more than 4 GiB of frames); io
WrittenObject write_segmentation(const CtPrediction& prediction, SegmentationKind kind,
                                 const std::string& path);

}  // namespace headrace::handover
