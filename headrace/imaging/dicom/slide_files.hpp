#pragma once
#include <string>
#include <vector>

namespace headrace::imaging {

/// The files of one slide in DICOM (VL Whole Slide Microscopy): one SeriesInstanceUID in one
/// folder.
struct DicomSlideFiles {
  std::vector<std::string> levels;      ///< pictures of the tissue, the largest first
  std::vector<std::string> associated;  ///< label, overview and thumbnail: not for a store
};

/// Sorts files into slides; files that are no slides in DICOM, or can't be parsed, are in none of
/// them: what is wrong with such a file its reader says. Slides are ordered by their first file. Of
/// the headers nothing is kept. Built with HR_WITH_DCMTK=OFF: none.
std::vector<DicomSlideFiles> find_dicom_slides(const std::vector<std::string>& files);

}  // namespace headrace::imaging
