#pragma once
#include <vector>

#include "headrace/imaging/dicom/file_headers.hpp"

namespace headrace::imaging {

/// Whether two pictures can be slices of one stack, but for their places.
bool same_plane(const PictureHeader& a, const PictureHeader& b);

/// Adds the files of one series to the scan: copies are left out, the others are split by size,
/// orientation, spacing, unit and acquisition, and each stack is ordered along its normal.
void stack_up(std::vector<const FileHeader*> files, const Pseudonymizer& pseudonym,
              const SeriesRules& rules, DicomScan& scan);

}  // namespace headrace::imaging
