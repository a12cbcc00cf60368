#include "learn/handover/dicom/series_files.hpp"

#include <cmath>
#include <exception>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/pseudonym.hpp"
#include "headrace/imaging/volume/voxel_hash.hpp"
#include "learn/handover/volume/file_order.hpp"

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

using Candidates = std::vector<const imaging::DicomSeries*>;

/// Those of the series whose voxels were predicted. One that can't be read was not, unless none is
/// left: then its error says more than that none fits.
Candidates with_voxels(const Candidates& series, const result::VolumeMap& map) {
  file_places(map, static_cast<std::size_t>(map.grid.voxels()));  // checks the order of the axes
  Candidates same;
  std::exception_ptr unread;
  for (const imaging::DicomSeries* one : series) {
    try {
      const auto reader = imaging::open_dicom_series(*one);
      if (imaging::voxel_hash(*reader, map.from_file) == map.voxels_sha256) same.push_back(one);
    } catch (const Error&) {
      unread = std::current_exception();
    }
  }
  if (same.empty() && unread) std::rethrow_exception(unread);
  return same;
}

}  // namespace

imaging::DicomSeries predicted_series(const std::string& source, const result::VolumeMap& map) {
  const auto scan = imaging::scan_dicom({source}, imaging::Pseudonymizer(kPassingKey));
  Candidates found;
  for (const imaging::DicomSeries& series : scan.series)
    if (lies_on(series, map.file_grid)) found.push_back(&series);
  if (found.empty()) {
    fail(ErrorCode::usage,
         "{}: none of its {} DICOM series lies on the predicted voxels. DICOM objects refer to the "
         "series that was predicted: name its folder ({}), or export NIfTI or NRRD.",
         source, scan.series.size(), Option{"source"});
  }
  const std::size_t on_grid = found.size();
  if (!map.voxels_sha256.empty()) found = with_voxels(found, map);
  if (found.empty()) {
    fail(ErrorCode::usage,
         "{}: the series that was predicted is not there; {} of {} DICOM series on its grid, but "
         "with other voxels (another contrast phase, reconstruction or compression). Name the "
         "folder of the series itself ({}), or export NIfTI or NRRD.",
         source, on_grid, scan.series.size(), Option{"source"});
  }
  if (found.size() > 1) {
    fail(ErrorCode::usage,
         "{}: more than one DICOM series lies on the predicted voxels{}; name the folder of one "
         "({})",
         source, map.voxels_sha256.empty() ? "" : " and has the same ones", Option{"source"});
  }
  return *found.front();
}

std::vector<std::string> series_files(const std::string& source, const result::VolumeMap& map) {
  std::vector<std::string> files;
  for (const imaging::DicomSlice& slice : predicted_series(source, map).slices)
    files.push_back(slice.path);
  return files;
}

}  // namespace headrace::handover
