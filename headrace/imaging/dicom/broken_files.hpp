#pragma once
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"

namespace headrace::imaging {

/// What a file is that does not begin as DICOM does.
enum class PlainContent { empty, zeros, other };

struct PlainFile {
  std::string path;
  PlainContent content = PlainContent::other;
};

PlainContent plain_content(const std::string& path);

/// Files that must be slices which lost their content (a copy that broke off, a disk that failed):
/// they lie beside pictures and are named as these are. One problem for each folder and kind.
/// files, pictures: sorted paths
std::vector<DicomProblem> lost_slices(const std::vector<PlainFile>& files,
                                      const std::vector<std::string>& pictures);

}  // namespace headrace::imaging
