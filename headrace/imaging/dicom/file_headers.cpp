#include "headrace/imaging/dicom/file_headers.hpp"

#include <cmath>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/contrast_phase.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"

namespace headrace::imaging {
namespace {

Modality modality_of(const std::string& code) {
  if (code == "CT") return Modality::ct;
  if (code == "MR") return Modality::mr;
  if (code == "PT") return Modality::pet;
  return Modality::other;
}

Vec3 unit(const std::vector<double>& values, int at, const std::string& path) {
  const Vec3 v{values[at], values[at + 1], values[at + 2]};
  const double length = std::sqrt(dot(v, v));
  if (!(std::abs(length - 1) < 1e-2)) {
    fail(ErrorCode::malformed,
         "{}: a direction cosine of ImageOrientationPatient has length {:.4f}, expected 1.", path,
         length);
  }
  return {v[0] / length, v[1] / length, v[2] / length};
}

/// Looks a module up in the frame's functional groups, then in the shared ones; the data set itself
/// for plain files.
class Groups {
 public:
  Groups(DcmItem& dataset, bool multi_frame) : dataset_(dataset), multi_frame_(multi_frame) {
    if (multi_frame) shared_ = item_of(dataset, DCM_SharedFunctionalGroupsSequence);
  }
  void set_frame(int frame) {
    frame_ =
        multi_frame_ ? item_of(dataset_, DCM_PerFrameFunctionalGroupsSequence, frame) : nullptr;
  }
  DcmItem* module(const DcmTagKey& sequence) const {
    if (!multi_frame_) return &dataset_;
    DcmItem* found = frame_ != nullptr ? item_of(*frame_, sequence) : nullptr;
    return found != nullptr || shared_ == nullptr ? found : item_of(*shared_, sequence);
  }

 private:
  DcmItem& dataset_;
  bool multi_frame_;
  DcmItem *shared_ = nullptr, *frame_ = nullptr;
};

/// False when the picture does not state its place in space: a scout, a secondary capture.
bool read_picture(const Groups& groups, const std::string& path, PictureHeader& picture) {
  DcmItem* position = groups.module(DCM_PlanePositionSequence);
  DcmItem* orientation = groups.module(DCM_PlaneOrientationSequence);
  DcmItem* measures = groups.module(DCM_PixelMeasuresSequence);
  if (position == nullptr || orientation == nullptr || measures == nullptr) return false;
  const auto place = numbers_of(*position, DCM_ImagePositionPatient, 3);
  const auto cosines = numbers_of(*orientation, DCM_ImageOrientationPatient, 6);
  const auto spacing = numbers_of(*measures, DCM_PixelSpacing, 2);
  if (!place || !cosines || !spacing) return false;
  picture.position_lps_mm = {(*place)[0], (*place)[1], (*place)[2]};
  picture.row_direction = unit(*cosines, 0, path);
  picture.column_direction = unit(*cosines, 3, path);
  if (std::abs(dot(picture.row_direction, picture.column_direction)) > 1e-3) {
    fail(ErrorCode::malformed,
         "{}: rows and columns are not perpendicular (ImageOrientationPatient).", path);
  }
  picture.spacing_mm_yx = {(*spacing)[0], (*spacing)[1]};
  if (!((*spacing)[0] > 0 && (*spacing)[1] > 0)) {
    fail(ErrorCode::malformed, "{}: PixelSpacing {} x {} mm, expected positive numbers.", path,
         (*spacing)[0], (*spacing)[1]);
  }
  picture.thickness_mm = number_of(*measures, DCM_SpacingBetweenSlices);
  if (!picture.thickness_mm) picture.thickness_mm = number_of(*measures, DCM_SliceThickness);
  if (DcmItem* values = groups.module(DCM_PixelValueTransformationSequence)) {
    picture.slope = number_of(*values, DCM_RescaleSlope).value_or(1);
    picture.intercept = number_of(*values, DCM_RescaleIntercept).value_or(0);
  }
  return true;
}

void read_pictures(DcmItem& dataset, FileHeader& header) {
  const auto rows = number_of(dataset, DCM_Rows), columns = number_of(dataset, DCM_Columns);
  if (!rows || !columns) return;
  const long frames_listed = items_of(dataset, DCM_PerFrameFunctionalGroupsSequence);
  const auto frames = static_cast<long>(number_of(dataset, DCM_NumberOfFrames).value_or(1));
  const bool multi_frame = frames_listed > 0;
  if (multi_frame && frames_listed != frames) {
    fail(ErrorCode::malformed, "{}: {} frames, but {} items in PerFrameFunctionalGroupsSequence.",
         header.path, frames, frames_listed);
  }
  if (!multi_frame && frames != 1) return;  // several frames without places
  if (items_of(dataset, DCM_ModalityLUTSequence) > 0 && unit_of(header.modality)) {
    fail(ErrorCode::unsupported,
         "{}: a modality look-up table, expected rescale slope and intercept.", header.path);
  }
  const bool localizer = text_of(dataset, DCM_ImageType).find("LOCALIZER") != std::string::npos;
  Groups groups(dataset, multi_frame);
  for (long frame = 0; frame < frames; ++frame) {
    PictureHeader picture;
    picture.rows = static_cast<std::int64_t>(*rows);
    picture.columns = static_cast<std::int64_t>(*columns);
    picture.localizer = localizer;
    groups.set_frame(static_cast<int>(frame));
    if (!read_picture(groups, header.path, picture)) {
      header.pictures.clear();
      return;
    }
    header.pictures.push_back(picture);
  }
}

ContrastPhase phase_of(DcmItem& dataset) {
  // The series' own description decides first, then the protocol's; the contrast agent only shows
  // that there was some contrast.
  for (const DcmTagKey& tag : {DCM_SeriesDescription, DCM_ProtocolName, DCM_ContrastBolusAgent}) {
    const ContrastPhase phase = phase_of_description(text_of(dataset, tag));
    if (phase != ContrastPhase::unknown) return phase;
  }
  return ContrastPhase::unknown;
}

PetHeader pet_header(DcmItem& dataset) {
  const std::string philips = "Philips PET Private Group";
  PetHeader pet;
  pet.units = text_of(dataset, DCM_Units);
  pet.suv_type = text_of(dataset, DCM_SUVType);
  pet.corrected = text_of(dataset, DCM_CorrectedImage);
  pet.decay_correction = text_of(dataset, DCM_DecayCorrection);
  pet.weight_kg = number_of(dataset, DCM_PatientWeight);
  pet.decay_factor = number_of(dataset, DCM_DecayFactor);
  pet.frame_ms = number_of(dataset, DCM_ActualFrameDuration);
  pet.philips_suv = private_number_of(dataset, 0x7053, philips, 0x00);
  pet.philips_bqml = private_number_of(dataset, 0x7053, philips, 0x09);
  if (DcmItem* agent = item_of(dataset, DCM_RadiopharmaceuticalInformationSequence)) {
    pet.agents = items_of(dataset, DCM_RadiopharmaceuticalInformationSequence);
    pet.dose_bq = number_of(*agent, DCM_RadionuclideTotalDose);
    pet.half_life_s = number_of(*agent, DCM_RadionuclideHalfLife);
    pet.injection_date_time = text_of(*agent, DCM_RadiopharmaceuticalStartDateTime);
    pet.injection_time = text_of(*agent, DCM_RadiopharmaceuticalStartTime);
  }
  pet.series_date = text_of(dataset, DCM_SeriesDate);
  pet.series_time = text_of(dataset, DCM_SeriesTime);
  pet.acquisition_date = text_of(dataset, DCM_AcquisitionDate);
  pet.acquisition_time = text_of(dataset, DCM_AcquisitionTime);
  pet.utc_offset = text_of(dataset, DCM_TimezoneOffsetFromUTC);
  pet.rescaled = number_of(dataset, DCM_RescaleSlope).has_value();
  pet.multi_frame = items_of(dataset, DCM_PerFrameFunctionalGroupsSequence) > 0;
  return pet;
}

void read_references(DcmItem& dataset, FileHeader& header) {
  if (DcmItem* series = item_of(dataset, DCM_ReferencedSeriesSequence)) {
    header.referenced_series_uids.push_back(text_of(*series, DCM_SeriesInstanceUID));
  }
  for (long f = 0; f < items_of(dataset, DCM_ReferencedFrameOfReferenceSequence); ++f) {
    DcmItem& frame = *item_of(dataset, DCM_ReferencedFrameOfReferenceSequence, f);
    if (header.frame_of_reference_uid.empty()) {
      header.frame_of_reference_uid = text_of(frame, DCM_FrameOfReferenceUID);
    }
    for (long s = 0; s < items_of(frame, DCM_RTReferencedStudySequence); ++s) {
      DcmItem& study = *item_of(frame, DCM_RTReferencedStudySequence, s);
      for (long r = 0; r < items_of(study, DCM_RTReferencedSeriesSequence); ++r) {
        DcmItem& series = *item_of(study, DCM_RTReferencedSeriesSequence, r);
        header.referenced_series_uids.push_back(text_of(series, DCM_SeriesInstanceUID));
      }
    }
  }
}

}  // namespace

bool has_dicom_start(const std::string& path) { return looks_like_dicom(path); }

FileHeader read_file_header(const std::string& path) {
  const auto file = load_dicom(path, false);
  DcmDataset& dataset = *file->getDataset();
  FileHeader header;
  header.path = path;
  header.size_bytes = std::filesystem::file_size(path);
  const std::string modality = text_of(dataset, DCM_Modality);
  header.modality = modality_of(modality);
  header.patient_id = text_of(dataset, DCM_PatientID);
  if (header.patient_id.empty()) header.patient_id = text_of(dataset, DCM_PatientName);
  header.study_uid = text_of(dataset, DCM_StudyInstanceUID);
  header.series_uid = text_of(dataset, DCM_SeriesInstanceUID);
  header.instance_uid = text_of(dataset, DCM_SOPInstanceUID);
  header.frame_of_reference_uid = text_of(dataset, DCM_FrameOfReferenceUID);
  if (const auto number = number_of(dataset, DCM_SeriesNumber))
    header.series_number = static_cast<int>(*number);
  header.phase = phase_of(dataset);
  if (header.modality == Modality::pet) header.pet = pet_header(dataset);
  if (modality == "SEG") header.object = DicomObject::segmentation;
  if (modality == "RTSTRUCT") header.object = DicomObject::structure_set;
  if (header.object != DicomObject::other) {
    read_references(dataset, header);
  } else {
    read_pictures(dataset, header);
  }
  return header;
}

}  // namespace headrace::imaging
