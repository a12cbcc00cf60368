#include "learn/handover/dicom/source_series.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "learn/handover/dicom/dataset_items.hpp"

namespace headrace::handover {
namespace {

using imaging::Vec3;

/// How far a file may lie off a slice of the grid: in pixels, and in parts of the slice distance.
/// An even stack may differ from its mean distance by as much (see imaging/dicom/slice_stack.hpp).
constexpr double kPlaneTolerancePx = 0.15, kSliceTolerance = 0.25;

std::vector<double> needed_numbers(DcmItem& header, const DcmTagKey& tag, unsigned long count,
                                   const std::string& path) {
  auto numbers = imaging::numbers_of(header, tag, count);
  if (!numbers) {
    fail(ErrorCode::malformed, "{}: {} is missing or has fewer than {} numbers.", path,
         DcmTag(tag).getTagName(), count);
  }
  return *std::move(numbers);
}

/// An identifier of the object, which some files state in the file's own header alone.
std::string object_uid(DcmFileFormat& file, const DcmTagKey& tag, const DcmTagKey& meta_tag,
                       const std::string& path) {
  const std::string stated = imaging::text_of(*file.getMetaInfo(), meta_tag);
  const std::string text = imaging::text_of(*file.getDataset(), tag);
  if (text.empty() && !stated.empty()) return stated;
  return needed_text(*file.getDataset(), tag, path);
}

SourceSlice slice_of(DcmFileFormat& file, const std::string& path) {
  DcmItem& header = *file.getDataset();
  if (imaging::number_of(header, DCM_NumberOfFrames).value_or(1) > 1) {
    fail(ErrorCode::unsupported,
         "{}: several frames in one file; DICOM objects are written for series of one slice a "
         "file. Export to another format.",
         path);
  }
  SourceSlice slice;
  slice.sop_class_uid = object_uid(file, DCM_SOPClassUID, DCM_MediaStorageSOPClassUID, path);
  slice.sop_instance_uid =
      object_uid(file, DCM_SOPInstanceUID, DCM_MediaStorageSOPInstanceUID, path);
  slice.position = needed_text(header, DCM_ImagePositionPatient, path);
  const auto place = needed_numbers(header, DCM_ImagePositionPatient, 3, path);
  const auto cosines = needed_numbers(header, DCM_ImageOrientationPatient, 6, path);
  const auto spacing = needed_numbers(header, DCM_PixelSpacing, 2, path);
  for (std::size_t i = 0; i < 3; ++i) {
    slice.position_lps_mm[i] = place[i];
    slice.column_step_mm[i] = cosines[i] * spacing[1];
    slice.row_step_mm[i] = cosines[3 + i] * spacing[0];
  }
  return slice;
}

/// Index z of the grid where the slice's first and last pixels lie.
std::size_t place_of(const SourceSlice& slice, const imaging::VolumeGrid& grid,
                     const std::string& path) {
  const auto last_x = static_cast<double>(grid.shape_zyx[2] - 1);
  const auto last_y = static_cast<double>(grid.shape_zyx[1] - 1);
  Vec3 last{};
  for (std::size_t i = 0; i < 3; ++i) {
    last[i] =
        slice.position_lps_mm[i] + last_x * slice.column_step_mm[i] + last_y * slice.row_step_mm[i];
  }
  const Vec3 from = grid.to_index(slice.position_lps_mm), to = grid.to_index(last);
  const double z = std::round(from[2]);
  const bool in_plane = std::abs(from[0]) <= kPlaneTolerancePx &&
                        std::abs(from[1]) <= kPlaneTolerancePx &&
                        std::abs(to[0] - last_x) <= kPlaneTolerancePx &&
                        std::abs(to[1] - last_y) <= kPlaneTolerancePx;
  const bool on_slice =
      std::abs(from[2] - z) <= kSliceTolerance && std::abs(to[2] - z) <= kSliceTolerance;
  if (!in_plane || !on_slice || z < 0 || z >= static_cast<double>(grid.shape_zyx[0])) {
    fail(ErrorCode::malformed,
         "{}: does not lie on a slice of the predicted grid ({}). The prediction is of another "
         "series, or of one that was resampled to even gaps; export to another format.",
         path, grid.text());
  }
  return static_cast<std::size_t>(z);
}

void check_size(DcmItem& header, const imaging::VolumeGrid& grid, const std::string& path) {
  const double rows = imaging::number_of(header, DCM_Rows).value_or(0);
  const double columns = imaging::number_of(header, DCM_Columns).value_or(0);
  if (rows == static_cast<double>(grid.shape_zyx[1]) &&
      columns == static_cast<double>(grid.shape_zyx[2])) {
    return;
  }
  fail(ErrorCode::malformed,
       "{}: {}x{} pixels, expected {}x{} as predicted. The prediction is of another series.", path,
       columns, rows, grid.shape_zyx[2], grid.shape_zyx[1]);
}

/// Takes what a series has in common from the first file read, and compares the others with it.
void agree(SourceSeries& series, DcmItem& header, const std::string& path) {
  const std::string study = needed_text(header, DCM_StudyInstanceUID, path);
  const std::string own = needed_text(header, DCM_SeriesInstanceUID, path);
  const std::string frame = needed_text(header, DCM_FrameOfReferenceUID, path);
  if (series.series_uid.empty()) {
    series.study_uid = study;
    series.series_uid = own;
    series.frame_of_reference_uid = frame;
  }
  if (study != series.study_uid || own != series.series_uid ||
      frame != series.frame_of_reference_uid) {
    fail(ErrorCode::malformed,
         "{}: of another series than the files before it; expected the files of one series.", path);
  }
}

}  // namespace

SourceSeries read_source_series(const std::vector<std::string>& files,
                                const imaging::VolumeGrid& grid) {
  SourceSeries series;
  series.slices.resize(static_cast<std::size_t>(grid.shape_zyx[0]));
  for (const std::string& path : files) {
    auto file = imaging::load_dicom(path, false);
    DcmItem& header = *file->getDataset();
    agree(series, header, path);
    check_size(header, grid, path);
    SourceSlice slice = slice_of(*file, path);
    const std::size_t z = place_of(slice, grid, path);
    if (!series.slices[z].sop_instance_uid.empty()) {
      fail(ErrorCode::malformed, "{}: a second file on slice {}; expected one file a slice.", path,
           z);
    }
    series.slices[z] = std::move(slice);
    if (z == 0) series.header = std::move(file);
  }
  for (std::size_t z = 0; z < series.slices.size(); ++z) {
    if (!series.slices[z].sop_instance_uid.empty()) continue;
    fail(
        ErrorCode::malformed,
        "slice {} of {} has no file in the series; the series has changed since the prediction, or "
        "was resampled to even gaps. Export to another format.",
        z, series.slices.size());
  }
  DcmItem& header = series.attributes();
  series.modality = imaging::text_of(header, DCM_Modality);
  series.orientation = imaging::text_of(header, DCM_ImageOrientationPatient);
  series.pixel_spacing = imaging::text_of(header, DCM_PixelSpacing);
  series.utf8 = imaging::text_of(header, DCM_SpecificCharacterSet) == "ISO_IR 192";
  return series;
}

}  // namespace headrace::handover
