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

/// Gives the slices of CT the slope and intercept that the user states, where headers state none.
/// Errors: malformed: they state none and the user neither, or other ones in some slices.
void settle_rescale(DicomSeries& series, const std::optional<Rescale>& stated) {
  if (series.modality != Modality::ct) return;
  std::vector<DicomSlice*> without, with;
  for (DicomSlice& slice : series.slices) (slice.rescale_stated ? with : without).push_back(&slice);
  if (without.empty()) return;
  const auto name = [](const DicomSlice& slice) {
    return slice.path + (slice.frame > 0 ? fmt::format(" frame {}", slice.frame) : "");
  };
  const std::string where = fmt::format(
      "RescaleSlope or RescaleIntercept is absent, empty or 0 in {} of {} slices (first "
      "{}), so {} values are not known to be Hounsfield units",
      without.size(), series.slices.size(), name(*without.front()), with.empty() ? "the" : "their");
  if (!stated) {
    fail(ErrorCode::malformed, "{}. Complete the headers, or state {} ({} SLOPE,INTERCEPT).", where,
         with.empty() ? "both" : "those of the other slices", Option{"rescale"});
  }
  for (const DicomSlice* slice : with) {
    if (Rescale{slice->slope, slice->intercept} == *stated) continue;
    fail(ErrorCode::malformed,
         "{}. {} {:g},{:g} can't be taken for them, since {} states {:g} and {:g}. Complete the "
         "headers.",
         where, Option{"rescale"}, stated->slope, stated->intercept, name(*slice), slice->slope,
         slice->intercept);
  }
  for (DicomSlice* slice : without) {
    slice->slope = stated->slope;
    slice->intercept = stated->intercept;
  }
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
  if (series.copies > 0)
    info.notes.push_back(
        make_note(NoteCode::copies_left_out, {static_cast<double>(series.copies)}));
  return info;
}

/// What is noted of slices that lie on even places only within rounding.
void note_rounding(const std::vector<SlicePlace>& places, const StackFindings& findings,
                   VolumeInfo& info) {
  if (findings.off_mm <= kFitTolerance * findings.spacing_mm) return;
  info.slices = places_on_grid(places, findings);
  info.notes.push_back(make_note(NoteCode::slices_rounded, {findings.off_mm, findings.spacing_mm}));
}

void note_rescale(const DicomSeries& scanned, const std::optional<Rescale>& rescale,
                  VolumeInfo& info) {
  const bool used = std::any_of(scanned.slices.begin(), scanned.slices.end(),
                                [](const DicomSlice& slice) { return !slice.rescale_stated; });
  if (used && rescale && scanned.modality == Modality::ct) {
    info.notes.push_back(make_note(NoteCode::rescale_stated, {rescale->slope, rescale->intercept}));
  }
}

/// What to do about an irregular stack.
std::string advice_of(const StackFindings& findings) {
  const bool only_doubled = findings.faults.size() == 1 && !findings.doubled.empty();
  if (only_doubled) {
    return "No header that is read tells these slices apart (acquisition, time point, "
           "reconstruction): leave some of them out";
  }
  return "Complete the series";
}

}  // namespace

std::unique_ptr<VolumeReader> open_dicom_series(const DicomSeries& scanned, Irregular irregular,
                                                const std::optional<Rescale>& rescale) {
  DicomSeries series = scanned;
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
  if (!series.other_values.empty()) {
    fail(ErrorCode::unsupported, "the series with {}: CT with {}, expected Hounsfield units.",
         first, series.other_values);
  }
  settle_rescale(series, rescale);
  std::vector<Vec3> positions;
  for (const DicomSlice& slice : series.slices) positions.push_back(slice.position_lps_mm);
  const auto places = place_slices(positions, series.row_direction, series.column_direction);
  const double pixel_mm = std::min(series.spacing_mm_yx[0], series.spacing_mm_yx[1]);
  const StackFindings findings = examine_stack(places, pixel_mm, series.slice_thickness_mm);
  const auto count = static_cast<double>(places.size());
  if (findings.regular()) {
    const double spacing = places.size() == 1
                               ? single_spacing(series)
                               : (places.back().along_mm - places.front().along_mm) / (count - 1);
    VolumeInfo info = facts_of(series, spacing);
    if (places.size() > 1) note_rounding(places, findings, info);
    note_rescale(scanned, rescale, info);
    return std::make_unique<DicomVolume>(series, info);
  }
  const auto faults = [&] { return text_of(findings, slice_names(series)); };
  if (irregular == Irregular::refuse) {
    fail(ErrorCode::malformed,
         "series of {} slices (with {}): {}. {}, or have it resampled to even gaps (ingest: {} "
         "resample).",
         series.slices.size(), first, faults(), advice_of(findings), Option{"irregular"});
  }
  if (!(findings.spacing_mm > 0)) {
    fail(ErrorCode::malformed,
         "series of {} slices (with {}): {}. All lie in one place, so there is no volume.",
         series.slices.size(), first, faults());
  }
  VolumeInfo info = facts_of(series, findings.spacing_mm);
  note_rescale(scanned, rescale, info);
  auto raw = std::make_unique<DicomVolume>(series, info);
  return resample_stack(std::move(raw), places, findings, first);
}

}  // namespace headrace::imaging
