#include <algorithm>
#include <filesystem>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/frame_decoder.hpp"
#include "headrace/imaging/dicom/regular_stack.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"

namespace headrace::imaging {
namespace {

/// Slices of a series as they are.
class DicomVolume : public VolumeReader {
 public:
  DicomVolume(const DicomSeries& series, const VolumeInfo& info) : slices_(series.slices) {
    info_ = info;
    name_ = "the series with " + slices_.front().path;
    multi_frame_ =
        std::any_of(slices_.begin(), slices_.end(), [](const auto& s) { return s.frame > 0; });
  }

  bool concurrent() const noexcept override { return !multi_frame_; }

  void read_slice(std::int64_t z, double* dst) const override {
    const DicomSlice& slice = slices_[static_cast<std::size_t>(z)];
    const auto count = static_cast<std::size_t>(info_.grid.slice_voxels());
    std::vector<std::int32_t> stored(count);
    if (multi_frame_) {
      if (!open_ || open_path_ != slice.path) {
        open_ = std::make_unique<FrameDecoder>(slice.path);
        open_path_ = slice.path;
      }
      decode(*open_, slice, stored.data());
    } else {
      FrameDecoder decoder(slice.path);
      decode(decoder, slice, stored.data());
    }
    for (std::size_t i = 0; i < count; ++i) dst[i] = stored[i] * slice.slope + slice.intercept;
  }

 private:
  void decode(FrameDecoder& decoder, const DicomSlice& slice, std::int32_t* dst) const {
    if (decoder.rows() != info_.grid.shape_zyx[1] || decoder.columns() != info_.grid.shape_zyx[2]) {
      fail(ErrorCode::corrupt,
           "{}: {}x{} pixels, expected {}x{}. The file has changed since it was scanned.",
           slice.path, decoder.columns(), decoder.rows(), info_.grid.shape_zyx[2],
           info_.grid.shape_zyx[1]);
    }
    decoder.decode(slice.frame, dst);
  }

  std::vector<DicomSlice> slices_;
  bool multi_frame_ = false;
  mutable std::unique_ptr<FrameDecoder> open_;  // multi-frame files are parsed once
  mutable std::string open_path_;
};

std::vector<std::string> slice_names(const DicomSeries& series) {
  std::vector<std::string> names;
  for (const DicomSlice& slice : series.slices) {
    std::string name = std::filesystem::path(slice.path).filename().string();
    if (slice.frame > 0) name += fmt::format(" frame {}", slice.frame);
    names.push_back(std::move(name));
  }
  return names;
}

double single_spacing(const DicomSeries& series) {
  const double thickness = series.slice_thickness_mm.value_or(0);
  if (!(thickness > 0)) {
    fail(ErrorCode::malformed,
         "{}: a single slice without SpacingBetweenSlices or SliceThickness, so its depth is "
         "unknown.",
         series.slices.front().path);
  }
  return thickness;
}

VolumeInfo facts_of(const DicomSeries& series, double spacing_z_mm) {
  const Vec3 normal = cross(series.row_direction, series.column_direction);
  std::array<double, 9> direction{};
  for (int row = 0; row < 3; ++row) {
    direction[3 * row] = series.row_direction[row];
    direction[3 * row + 1] = series.column_direction[row];
    direction[3 * row + 2] = normal[row];
  }
  VolumeInfo info;
  info.grid =
      VolumeGrid::of({static_cast<std::int64_t>(series.slices.size()), series.rows, series.columns},
                     {series.spacing_mm_yx[1], series.spacing_mm_yx[0], spacing_z_mm},
                     series.slices.front().position_lps_mm, direction);
  info.modality = series.modality;
  info.phase = series.phase;
  info.source_bytes = series.source_bytes;
  return info;
}

}  // namespace

std::unique_ptr<VolumeReader> open_dicom_series(const DicomSeries& series, Irregular irregular) {
  if (series.slices.empty()) fail(ErrorCode::usage, "a series without slices.");
  const std::string& first = series.slices.front().path;
  if (series.modality != Modality::ct && series.modality != Modality::pet) {
    fail(ErrorCode::unsupported, "{}: modality {}, expected CT (Hounsfield units) or PET (SUV).",
         first, name_of(series.modality));
  }
  if (!series.no_suv.empty()) {
    fail(ErrorCode::unsupported,
         "the PET series with {} {}, so it has no SUV. Complete its headers, or bring it as NIfTI "
         "in "
         "SUV.",
         first, series.no_suv);
  }
  std::vector<Vec3> positions;
  for (const DicomSlice& slice : series.slices) positions.push_back(slice.position_lps_mm);
  const auto places = place_slices(positions, series.row_direction, series.column_direction);
  const double pixel_mm = std::min(series.spacing_mm_yx[0], series.spacing_mm_yx[1]);
  const StackFindings findings = examine_stack(places, pixel_mm);
  const auto count = static_cast<double>(places.size());
  if (findings.regular()) {
    const double spacing = places.size() == 1
                               ? single_spacing(series)
                               : (places.back().along_mm - places.front().along_mm) / (count - 1);
    return std::make_unique<DicomVolume>(series, facts_of(series, spacing));
  }
  const auto faults = [&] { return text_of(findings, slice_names(series)); };
  if (irregular == Irregular::refuse) {
    fail(
        ErrorCode::malformed,
        "series of {} slices (with {}): {}. Complete the series, or have it resampled to even gaps "
        "(ingest: {} resample).",
        series.slices.size(), first, faults(), Option{"irregular"});
  }
  if (!(findings.spacing_mm > 0)) {
    fail(ErrorCode::malformed,
         "series of {} slices (with {}): {}. All lie in one place, so there is no volume.",
         series.slices.size(), first, faults());
  }
  auto raw = std::make_unique<DicomVolume>(series, facts_of(series, findings.spacing_mm));
  return resample_stack(std::move(raw), places, findings, first);
}

}  // namespace headrace::imaging
