#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/dicom_labels.hpp"

namespace headrace::imaging {
namespace {

/// Empty without a date of eight digits.
std::string moment(DcmItem& dataset, const DcmTagKey& date, const DcmTagKey& time) {
  const std::string day = text_of(dataset, date);
  if (day.size() != 8 || day.find_first_not_of("0123456789") != std::string::npos) return {};
  return day + text_of(dataset, time);
}

DicomLabelNames names_in(DcmDataset& dataset) {
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
    found.names.push_back(utf8_text_of(item, name));
  }
  const auto& stated_date = segmentation ? DCM_ContentDate : DCM_StructureSetDate;
  const auto& stated_time = segmentation ? DCM_ContentTime : DCM_StructureSetTime;
  found.written = {moment(dataset, stated_date, stated_time),
                   moment(dataset, DCM_InstanceCreationDate, DCM_InstanceCreationTime),
                   moment(dataset, DCM_SeriesDate, DCM_SeriesTime)};
  return found;
}

}  // namespace

DicomLabelNames read_label_names(const std::string& path) {
  const auto file = load_dicom(path, false);
  return naming(path, [&] { return names_in(*file->getDataset()); });
}

}  // namespace headrace::imaging
