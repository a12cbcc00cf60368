#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The DICOM series under `source` (a folder or a file) that was predicted: its slices are those of
/// the map's file grid, and its voxels those that the map states (voxels_sha256). Where the map
/// does not state them, the grid alone tells. Nothing of their headers is kept.
///
/// memory  two bytes a voxel
/// errors  usage (no such series, or more than one), those of imaging::scan_dicom, and of reading
///         the voxels, where that leaves none
imaging::DicomSeries predicted_series(const std::string& source, const result::VolumeMap& map);

/// Its files.
std::vector<std::string> series_files(const std::string& source, const result::VolumeMap& map);

}  // namespace headrace::handover
