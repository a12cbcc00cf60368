#pragma once
#include <string>
#include <vector>

namespace headrace::imaging {

/// The files of one slide in DICOM (VL Whole Slide Microscopy): one SeriesInstanceUID in one
/// folder.
struct DicomSlideFiles {
  std::vector<std::string> levels;      ///< pictures of the tissue, the largest first
  std::vector<std::string> associated;  ///< label, overview and thumbnail, which a store does not
                                        ///< take
  std::string series;     ///< SeriesInstanceUID, to tell folders apart; never stored or shown
  int optical_paths = 1;  ///< of the level with most
};

/// Sorts files into slides. Files that are not DICOM slides, or can't be parsed, belong to none;
/// their reader reports what is wrong. Slides are ordered by their first file. Nothing else of
/// the headers is kept. Built with HR_WITH_DCMTK=OFF, it returns none.
std::vector<DicomSlideFiles> find_dicom_slides(const std::vector<std::string>& files);

}  // namespace headrace::imaging
