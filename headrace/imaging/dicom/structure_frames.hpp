#pragma once
#include <set>
#include <string>

#include "headrace/imaging/dicom/dcmtk_file.hpp"

namespace headrace::imaging {

/// The frames of reference in which a set's structures with contours lie; those without contours may
/// state any.
std::set<std::string> frames_of_structures(DcmItem& dataset);

}  // namespace headrace::imaging
