#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"

namespace headrace::imaging {

DicomLabelNames read_label_names(const std::string& path) {
  const auto file = load_dicom(path, false);
  DcmDataset& dataset = *file->getDataset();
  const std::string modality = text_of(dataset, DCM_Modality);
  const bool segmentation = modality == "SEG", structures = modality == "RTSTRUCT";
  DicomLabelNames found;
  if (!segmentation && !structures) return found;
  found.object = segmentation ? DicomObject::segmentation : DicomObject::structure_set;
  const auto& list = segmentation ? DCM_SegmentSequence : DCM_StructureSetROISequence;
  const auto& number = segmentation ? DCM_SegmentNumber : DCM_ROINumber;
  const auto& name = segmentation ? DCM_SegmentLabel : DCM_ROIName;
  for (long i = 0; i < items_of(dataset, list); ++i) {
    DcmItem& item = *item_of(dataset, list, i);
    // The background of a label map has number 0.
    if (segmentation && number_of(item, number).value_or(-1) == 0) continue;
    found.names.push_back(text_of(item, name));
  }
  return found;
}

}  // namespace headrace::imaging
