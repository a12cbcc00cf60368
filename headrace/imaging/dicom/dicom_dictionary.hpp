#pragma once
#include <string>
#include <vector>

namespace headrace::imaging {

/// Names files of DCMTK's data dictionary (dicom.dic, private.dic) that are read where DCMTK finds
/// none by itself, for programs that bring them along (a Python package). For the whole process,
/// before the first DICOM file is read; later it changes nothing. Safe from any thread.
void suggest_dicom_dictionary(std::vector<std::string> files);

/// The files that were named.
std::vector<std::string> suggested_dicom_dictionary();

}  // namespace headrace::imaging
