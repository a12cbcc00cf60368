#include "headrace/handover/dicom/series_files.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/pseudonym.hpp"

namespace headrace::handover {
namespace {

// The hashes only keep series apart while they are looked through.
constexpr const char* kPassingKey = "series of one export";

constexpr double kSamePlaceMm = 0.05;

bool same_place(const imaging::Vec3& a, const imaging::Vec3& b) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (std::abs(a[axis] - b[axis]) > kSamePlaceMm) return false;
  return true;
}

/// Whether the series has the grid's slices; the first and the last place tell.
bool lies_on(const imaging::DicomSeries& series, const imaging::VolumeGrid& grid) {
  const auto& [depth, rows, columns] = grid.shape_zyx;
  if (series.localizer || static_cast<std::int64_t>(series.slices.size()) != depth) return false;
  if (series.rows != rows || series.columns != columns) return false;
  const auto& slices = series.slices;
  return same_place(slices.front().position_lps_mm, grid.to_lps_mm(0, 0, 0)) &&
         same_place(slices.back().position_lps_mm,
                    grid.to_lps_mm(0, 0, static_cast<double>(depth - 1)));
}

}  // namespace

std::vector<std::string> series_files(const std::string& source,
                                      const imaging::VolumeGrid& file_grid) {
  const auto scan = imaging::scan_dicom({source}, imaging::Pseudonymizer(kPassingKey));
  const imaging::DicomSeries* found = nullptr;
  for (const imaging::DicomSeries& series : scan.series) {
    if (!lies_on(series, file_grid)) continue;
    if (found != nullptr) {
      fail(ErrorCode::usage,
           "{}: more than one DICOM series lies on the predicted voxels; name the folder of one "
           "({})",
           source, Option{"source"});
    }
    found = &series;
  }
  if (found == nullptr) {
    fail(ErrorCode::usage,
         "{}: none of its {} DICOM series lies on the predicted voxels. DICOM objects refer to the "
         "series that was predicted: name its folder ({}), or export NIfTI or NRRD.",
         source, scan.series.size(), Option{"source"});
  }
  std::vector<std::string> files;
  for (const imaging::DicomSlice& slice : found->slices) files.push_back(slice.path);
  return files;
}

}  // namespace headrace::handover
