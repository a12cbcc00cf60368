#include "headrace/imaging/dicom/file_headers.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/contrast_phase.hpp"
#include "headrace/imaging/dicom/ct_values.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/imaging/dicom/structure_frames.hpp"

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
  /// The data set or group that has this sequence, of which it may have several items.
  DcmItem* holder(const DcmTagKey& sequence) const {
    if (!multi_frame_) return &dataset_;
    return frame_ != nullptr && item_of(*frame_, sequence) != nullptr ? frame_ : shared_;
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
  return true;
}

/// The item of RealWorldValueMappingSequence that gives Hounsfield units, or null; and the units of
/// all items.
DcmItem* mapping_to_hounsfield(DcmItem& picture, std::vector<std::string>& units) {
  DcmItem* found = nullptr;
  for (long i = 0; i < items_of(picture, DCM_RealWorldValueMappingSequence); ++i) {
    DcmItem& mapping = *item_of(picture, DCM_RealWorldValueMappingSequence, i);
    DcmItem* unit = item_of(mapping, DCM_MeasurementUnitsCodeSequence);
    units.push_back(unit == nullptr ? "" : text_of(*unit, DCM_CodeValue));
    if (found == nullptr && is_hounsfield_code(units.back())) found = &mapping;
  }
  return found;
}

/// Slope and intercept of a picture, and whether they give Hounsfield units.
void read_values(DcmItem& dataset, const Groups& groups, Modality modality,
                 PictureHeader& picture) {
  DcmItem* values = groups.module(DCM_PixelValueTransformationSequence);
  // Multi-frame objects of other kinds state it for all frames at once.
  if (values == nullptr) values = &dataset;
  CtValueHeader header;
  header.rescale_type = text_of(*values, DCM_RescaleType);
  header.image_type = text_of(dataset, DCM_ImageType);
  header.samples = static_cast<int>(number_of(dataset, DCM_SamplesPerPixel).value_or(1));
  if (DcmItem* type = groups.module(DCM_CTImageFrameTypeSequence); type != nullptr)
    header.image_type += "\\" + text_of(*type, DCM_FrameType);
  DcmItem* mapped = groups.holder(DCM_RealWorldValueMappingSequence);
  DcmItem* mapping =
      mapped == nullptr ? nullptr : mapping_to_hounsfield(*mapped, header.mapped_units);
  picture.slope = number_of(*values, DCM_RescaleSlope);
  if (picture.slope == 0.0) picture.slope.reset();
  picture.intercept = number_of(*values, DCM_RescaleIntercept);
  if (modality != Modality::ct) return;
  picture.other_values = other_than_hounsfield(header);
  const bool stated = picture.slope && picture.intercept && header.rescale_type != "US";
  if (mapping == nullptr) return;
  const auto slope = number_of(*mapping, DCM_RealWorldValueSlope),
             intercept = number_of(*mapping, DCM_RealWorldValueIntercept);
  if (!slope || *slope == 0 || !intercept) return;
  const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(a) + 1e-6; };
  if (stated && picture.other_values.empty() &&
      (!same(*picture.slope, *slope) || !same(*picture.intercept, *intercept)))
    picture.other_values =
        "values for which Rescale and Real World Value Mapping give different HU";
  if (stated) return;
  picture.slope = slope;
  picture.intercept = intercept;
}

/// A number to a hundredth, however many digits were written: 1.25 and 1.2500. Other text as it is.
std::string written_alike(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? text : fmt::format("{:.2f}", value);
}

/// What tells acquisitions, time points and reconstructions of one series apart.
AcquisitionKeys acquisition_keys(DcmItem& dataset, const Groups& groups) {
  AcquisitionKeys keys;
  DcmItem* content = groups.module(DCM_FrameContentSequence);
  DcmItem& of_frame = content == nullptr ? dataset : *content;
  const auto first_of = [](DcmItem& item, std::initializer_list<DcmTagKey> tags) {
    for (const DcmTagKey& tag : tags) {
      if (auto text = text_of(item, tag); !text.empty()) return text;
    }
    return std::string();
  };
  keys.values[AcquisitionKeys::number] =
      first_of(of_frame, {DCM_FrameAcquisitionNumber, DCM_AcquisitionNumber});
  keys.values[AcquisitionKeys::time_point] = first_of(
      of_frame,
      {DCM_TemporalPositionTimeOffset, DCM_TemporalPositionIndex, DCM_TemporalPositionIdentifier});
  keys.values[AcquisitionKeys::heart_phase] =
      first_of(of_frame, {DCM_NominalPercentageOfCardiacPhase, DCM_TriggerTime});
  keys.values[AcquisitionKeys::time] = first_of(
      of_frame, {DCM_FrameAcquisitionDateTime, DCM_AcquisitionDateTime, DCM_AcquisitionTime});
  // Of enhanced CT each frame may be of another reconstruction (PS3.3 C.8.15.3).
  const auto of_module = [&](const DcmTagKey& sequence, const DcmTagKey& tag) {
    DcmItem* module = groups.module(sequence);
    return module == nullptr ? std::string() : text_of(*module, tag);
  };
  const auto stated = [](std::string of_frame, const std::string& of_file) {
    return of_frame.empty() ? of_file : std::move(of_frame);
  };
  keys.values[AcquisitionKeys::kernel] =
      stated(of_module(DCM_CTReconstructionSequence, DCM_ConvolutionKernel),
             text_of(dataset, DCM_ConvolutionKernel));
  keys.values[AcquisitionKeys::voltage] =
      stated(of_module(DCM_CTXRayDetailsSequence, DCM_KVP), text_of(dataset, DCM_KVP));
  keys.values[AcquisitionKeys::kind] = stated(
      of_module(DCM_CTImageFrameTypeSequence, DCM_FrameType), text_of(dataset, DCM_ImageType));
  keys.values[AcquisitionKeys::thickness] =
      written_alike(of_module(DCM_PixelMeasuresSequence, DCM_SliceThickness));
  keys.values[AcquisitionKeys::stack] = text_of(of_frame, DCM_StackID);
  keys.instance = number_of(dataset, DCM_InstanceNumber);
  return keys;
}

void read_pictures(DcmItem& dataset, FileHeader& header) {
  const auto rows = number_of(dataset, DCM_Rows), columns = number_of(dataset, DCM_Columns);
  if (!rows || !columns) return;
  header.rows = static_cast<std::int64_t>(*rows);
  header.columns = static_cast<std::int64_t>(*columns);
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
  Groups groups(dataset, multi_frame);
  for (long frame = 0; frame < frames; ++frame) {
    PictureHeader picture;
    picture.rows = header.rows;
    picture.columns = header.columns;
    picture.localizer = header.localizer;
    groups.set_frame(static_cast<int>(frame));
    if (!read_picture(groups, header.path, picture)) {
      header.pictures.clear();
      return;
    }
    read_values(dataset, groups, header.modality, picture);
    picture.acquisition = acquisition_keys(dataset, groups);
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
  pet.rescaled = number_of(dataset, DCM_RescaleSlope).value_or(0) != 0;
  pet.multi_frame = items_of(dataset, DCM_PerFrameFunctionalGroupsSequence) > 0;
  return pet;
}

/// The frame of reference of all structures with contours; empty where none states one, or several
/// differ.
std::string frame_of_structures(DcmItem& dataset) {
  const auto frames = frames_of_structures(dataset);
  return frames.size() == 1 ? *frames.begin() : std::string();
}

/// The items of the series that a structure set refers to: where it lists them by frames of
/// reference, those of the frame in which its structures lie.
std::vector<DcmItem*> series_of_structures(DcmItem& dataset) {
  const std::string own = frame_of_structures(dataset);
  std::vector<DcmItem*> all, in_frame;
  for (long f = 0; f < items_of(dataset, DCM_ReferencedFrameOfReferenceSequence); ++f) {
    DcmItem& frame = *item_of(dataset, DCM_ReferencedFrameOfReferenceSequence, f);
    const bool same = !own.empty() && text_of(frame, DCM_FrameOfReferenceUID) == own;
    for (long s = 0; s < items_of(frame, DCM_RTReferencedStudySequence); ++s) {
      DcmItem& study = *item_of(frame, DCM_RTReferencedStudySequence, s);
      for (long r = 0; r < items_of(study, DCM_RTReferencedSeriesSequence); ++r) {
        all.push_back(item_of(study, DCM_RTReferencedSeriesSequence, r));
        if (same) in_frame.push_back(all.back());
      }
    }
  }
  return in_frame.empty() ? all : in_frame;
}

void add_instances(DcmItem& item, const DcmTagKey& sequence, std::set<std::string>& uids) {
  for (long i = 0; i < items_of(item, sequence); ++i)
    uids.insert(text_of(*item_of(item, sequence, i), DCM_ReferencedSOPInstanceUID));
}

/// The pictures that labels were drawn on: of segmentations the sources of their frames (PS3.3
/// C.7.6.16.2.6), else the instances of the series that they name; of structure sets those of the
/// contours (C.8.8.6), else of the series.
std::vector<std::string> instances_of(DcmItem& dataset) {
  std::set<std::string> uids;
  const auto add_sources = [&](DcmItem& group) {
    for (long d = 0; d < items_of(group, DCM_DerivationImageSequence); ++d)
      add_instances(*item_of(group, DCM_DerivationImageSequence, d), DCM_SourceImageSequence, uids);
  };
  for (long f = 0; f < items_of(dataset, DCM_PerFrameFunctionalGroupsSequence); ++f)
    add_sources(*item_of(dataset, DCM_PerFrameFunctionalGroupsSequence, f));
  for (long r = 0; r < items_of(dataset, DCM_ROIContourSequence); ++r) {
    DcmItem& roi = *item_of(dataset, DCM_ROIContourSequence, r);
    for (long c = 0; c < items_of(roi, DCM_ContourSequence); ++c)
      add_instances(*item_of(roi, DCM_ContourSequence, c), DCM_ContourImageSequence, uids);
  }
  uids.erase("");
  if (uids.empty()) {
    for (long s = 0; s < items_of(dataset, DCM_ReferencedSeriesSequence); ++s) {
      add_instances(*item_of(dataset, DCM_ReferencedSeriesSequence, s),
                    DCM_ReferencedInstanceSequence, uids);
    }
    for (DcmItem* series : series_of_structures(dataset))
      add_instances(*series, DCM_ContourImageSequence, uids);
    uids.erase("");
  }
  return {uids.begin(), uids.end()};
}

void read_references(DcmItem& dataset, FileHeader& header) {
  if (DcmItem* series = item_of(dataset, DCM_ReferencedSeriesSequence)) {
    header.referenced_series_uids.push_back(text_of(*series, DCM_SeriesInstanceUID));
  }
  header.referenced_instance_uids = instances_of(dataset);
  // What the structures state themselves; the list of frames may name others too.
  if (const std::string frame = frame_of_structures(dataset); !frame.empty())
    header.frame_of_reference_uid = frame;
  if (DcmItem* frame = item_of(dataset, DCM_ReferencedFrameOfReferenceSequence);
      frame != nullptr && header.frame_of_reference_uid.empty())
    header.frame_of_reference_uid = text_of(*frame, DCM_FrameOfReferenceUID);
  for (DcmItem* series : series_of_structures(dataset))
    header.referenced_series_uids.push_back(text_of(*series, DCM_SeriesInstanceUID));
  std::erase(header.referenced_series_uids, "");
}

void read_facts(DcmDataset& dataset, FileHeader& header) {
  const std::string modality = text_of(dataset, DCM_Modality);
  header.modality = modality_of(modality);
  header.modality_stated = !modality.empty();
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
  const std::string kind = text_of(dataset, DCM_ImageType);
  header.localizer = kind.find("LOCALIZER") != std::string::npos;
  header.derived = kind.starts_with("DERIVED");
  // Secondary Capture Image Storage, and those of several frames below it.
  constexpr std::string_view kCapture = "1.2.840.10008.5.1.4.1.1.7";
  const std::string sop_class = text_of(dataset, DCM_SOPClassUID);
  header.secondary_capture =
      sop_class == kCapture || sop_class.starts_with(fmt::format("{}.", kCapture));
  if (modality == "SEG") header.object = DicomObject::segmentation;
  if (modality == "RTSTRUCT") header.object = DicomObject::structure_set;
  if (header.object != DicomObject::other) {
    read_references(dataset, header);
  } else {
    read_pictures(dataset, header);
  }
}

}  // namespace

FileHeader read_file_header(const std::string& path) {
  const auto file = load_dicom(path, false);
  FileHeader header;
  header.path = path;
  header.size_bytes = std::filesystem::file_size(path);
  naming(path, [&] { read_facts(*file->getDataset(), header); });
  return header;
}

}  // namespace headrace::imaging
