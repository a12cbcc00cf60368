#pragma once
// For use inside imaging/dicom only: holds identifiers as they are in the file. Nothing here may
// leave the scan unhashed.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/acquisitions.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/suv.hpp"

namespace headrace::imaging {

struct PictureHeader {
  Vec3 position_lps_mm{}, row_direction{}, column_direction{};
  std::array<double, 2> spacing_mm_yx{};
  std::optional<double> slope, intercept;  ///< RescaleSlope, RescaleIntercept; never a slope of 0
  std::int64_t rows = 0, columns = 0;
  std::optional<double> thickness_mm;
  bool localizer = false;
  std::string other_values;  ///< DicomSeries::other_values
  AcquisitionKeys acquisition;
};

struct FileHeader {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string patient_id, study_uid, series_uid, instance_uid, frame_of_reference_uid;
  std::vector<std::string> referenced_series_uids, referenced_instance_uids;  ///< of labels
  std::optional<int> series_number;
  Modality modality = Modality::other;
  bool modality_stated = true;
  ContrastPhase phase = ContrastPhase::unknown;
  DicomObject object = DicomObject::other;
  PetHeader pet;  ///< for PET only
  std::int64_t rows = 0, columns = 0;
  bool localizer = false, derived = false;  ///< by ImageType
  bool secondary_capture = false;           ///< a picture of a picture, by its SOP class
  std::vector<PictureHeader>
      pictures;  ///< one for each frame; none when the object is not a picture in space
};

/// Errors: malformed, unsupported; each names the file and no identifier.
FileHeader read_file_header(const std::string& path);

}  // namespace headrace::imaging
