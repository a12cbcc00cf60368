#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::handover {

/// The files of the DICOM series under `source` (a folder or a file) whose slices are those of a
/// grid. Nothing of their headers is kept.
/// errors  usage (no series lies on the grid, or more than one does), those of imaging::scan_dicom
std::vector<std::string> series_files(const std::string& source,
                                      const imaging::VolumeGrid& file_grid);

}  // namespace headrace::handover
