#pragma once
#include <string>

#include "learn/handover/dicom/ct_prediction.hpp"

namespace headrace::handover {

/// Writes an RT Structure Set (PS3.3, A.19) on the slices of a series: ROI number k is segments[k -
/// 1].
///
/// A contour (CLOSED_PLANAR) is the outline of a connected part on one slice, along the edges of
/// its pixels, in LPS mm; holes are joined with it by keyholes. So filling the contours at pixel
/// centres gives the same masks. A class without voxels is a ROI without contours.
///
/// threads calls are independent
/// memory  all contours, about 40 bytes a corner
/// errors  as read_source_series; usage (sizes, no segment); io
WrittenObject write_structure_set(const CtPrediction& prediction, const std::string& path);

}  // namespace headrace::handover
