#include "headrace/imaging/dicom/structure_frames.hpp"

namespace headrace::imaging {

std::set<std::string> frames_of_structures(DcmItem& dataset) {
  std::set<double> with_contours;
  for (long i = 0; i < items_of(dataset, DCM_ROIContourSequence); ++i) {
    DcmItem& roi = *item_of(dataset, DCM_ROIContourSequence, i);
    if (items_of(roi, DCM_ContourSequence) > 0)
      with_contours.insert(number_of(roi, DCM_ReferencedROINumber).value_or(-1));
  }
  std::set<std::string> frames;
  for (long i = 0; i < items_of(dataset, DCM_StructureSetROISequence); ++i) {
    DcmItem& roi = *item_of(dataset, DCM_StructureSetROISequence, i);
    if (with_contours.contains(number_of(roi, DCM_ROINumber).value_or(-1)))
      frames.insert(text_of(roi, DCM_ReferencedFrameOfReferenceUID));
  }
  frames.erase("");
  return frames;
}

}  // namespace headrace::imaging
