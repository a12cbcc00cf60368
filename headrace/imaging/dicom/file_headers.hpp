#pragma once
// For use inside imaging/dicom only: holds identifiers as they are in the file. Nothing here may
// leave the scan unhashed.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/suv.hpp"

namespace headrace::imaging {

struct PictureHeader {
  Vec3 position_lps_mm{}, row_direction{}, column_direction{};
  std::array<double, 2> spacing_mm_yx{};
  double slope = 1, intercept = 0;
  std::int64_t rows = 0, columns = 0;
  std::optional<double> thickness_mm;
  bool localizer = false;
};

struct FileHeader {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string patient_id, study_uid, series_uid, instance_uid, frame_of_reference_uid;
  std::vector<std::string> referenced_series_uids;
  std::optional<int> series_number;
  Modality modality = Modality::other;
  ContrastPhase phase = ContrastPhase::unknown;
  DicomObject object = DicomObject::other;
  PetHeader pet;  ///< for PET only
  std::vector<PictureHeader>
      pictures;  ///< one for each frame; none when the object is not a picture in space
};

bool has_dicom_start(const std::string& path);
/// Errors: malformed, unsupported; each names the file and no identifier.
FileHeader read_file_header(const std::string& path);

}  // namespace headrace::imaging
