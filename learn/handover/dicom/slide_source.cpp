#include "learn/handover/dicom/slide_source.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"
#include "learn/handover/dicom/dataset_items.hpp"

namespace headrace::handover {
namespace {

namespace fs = std::filesystem;

/// Regular files in the folder of a file, or anywhere under a folder; sorted.
std::vector<std::string> files_around(const fs::path& source) {
  std::vector<std::string> files;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  };
  if (fs::is_directory(source)) {
    walk_folder(source, add);
  } else if (fs::exists(source)) {
    const fs::path folder = source.has_parent_path() ? source.parent_path() : fs::path(".");
    for (const auto& entry : list_folder(folder)) add(entry);
  } else {
    fail(ErrorCode::not_found, "{}: not there; name the slide that was predicted ({})",
         source.string(), Option{"source"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool has_file(const imaging::DicomSlideFiles& slide, const fs::path& file) {
  const auto is = [&](const std::string& path) { return fs::equivalent(path, file); };
  return std::any_of(slide.levels.begin(), slide.levels.end(), is) ||
         std::any_of(slide.associated.begin(), slide.associated.end(), is);
}

bool has_size(DcmItem& header, const result::SlideMap& map) {
  return imaging::number_of(header, DCM_TotalPixelMatrixRows) ==
             static_cast<double>(map.level0_height) &&
         imaging::number_of(header, DCM_TotalPixelMatrixColumns) ==
             static_cast<double>(map.level0_width);
}

/// A slide's finest level that has the predicted size.
struct Level {
  std::string path;
  std::unique_ptr<DcmFileFormat> file;
};

Level find_level(const std::string& source, const result::SlideMap& map) {
  const bool one = !fs::is_directory(source);
  const auto slides = imaging::find_dicom_slides(files_around(source));
  Level found;
  for (const imaging::DicomSlideFiles& slide : slides) {
    if (slide.levels.empty() || (one && !has_file(slide, source))) continue;
    auto file = imaging::load_dicom(slide.levels.front(), false);
    if (!has_size(*file->getDataset(), map)) continue;
    if (found.file) {
      fail(ErrorCode::usage,
           "{}: more than one DICOM slide has the predicted size; name a file of one ({})", source,
           Option{"source"});
    }
    found = {slide.levels.front(), std::move(file)};
  }
  if (!found.file) {
    fail(ErrorCode::usage,
         "{}: no DICOM slide of {}x{} pixels there. A DICOM segmentation refers to the DICOM slide "
         "that was predicted: name it ({}), or export GeoJSON or OME-TIFF.",
         source, map.level0_width, map.level0_height, Option{"source"});
  }
  return found;
}

std::vector<double> needed(const std::optional<std::vector<double>>& numbers, const char* what,
                           const std::string& path) {
  if (numbers) return *numbers;
  fail(ErrorCode::malformed,
       "{}: {} is missing, without which a segmentation has no place on the slide. Bring the slide "
       "with complete headers, or export GeoJSON or OME-TIFF.",
       path, what);
}

DcmItem* pixel_measures(DcmItem& header) {
  DcmItem* shared = imaging::item_of(header, DCM_SharedFunctionalGroupsSequence);
  return shared == nullptr ? nullptr : imaging::item_of(*shared, DCM_PixelMeasuresSequence);
}

std::vector<double> spacing_of(DcmItem& header, const std::string& path) {
  std::optional<std::vector<double>> spacing;
  if (DcmItem* measures = pixel_measures(header))
    spacing = imaging::numbers_of(*measures, DCM_PixelSpacing, 2);
  return needed(spacing, "Pixel Spacing", path);
}

/// As the file states it, else its imaged depth, else a depth of field of a micrometre.
double thickness_of(DcmItem& header) {
  constexpr double kUsualMm = 0.001, kMmPerUm = 0.001;
  std::optional<double> stated;
  if (DcmItem* measures = pixel_measures(header))
    stated = imaging::number_of(*measures, DCM_SliceThickness);
  if (!stated || *stated <= 0)
    stated = imaging::number_of(header, DCM_ImagedVolumeDepth).value_or(0) * kMmPerUm;
  return *stated > 0 ? *stated : kUsualMm;
}

std::array<double, 2> origin_of(DcmItem& header) {
  DcmItem* origin = imaging::item_of(header, DCM_TotalPixelMatrixOriginSequence);
  if (origin == nullptr) return {};
  return {imaging::number_of(*origin, DCM_XOffsetInSlideCoordinateSystem).value_or(0),
          imaging::number_of(*origin, DCM_YOffsetInSlideCoordinateSystem).value_or(0)};
}

}  // namespace

SlideSource read_slide_source(const std::string& source, const result::SlideMap& map) {
  Level level = find_level(source, map);
  DcmItem& header = *level.file->getDataset();
  SlideSource out;
  const auto directions = needed(imaging::numbers_of(header, DCM_ImageOrientationSlide, 6),
                                 "Image Orientation (Slide)", level.path);
  std::copy_n(directions.begin(), 3, out.column_direction.begin());
  std::copy_n(directions.begin() + 3, 3, out.row_direction.begin());
  const auto spacing = spacing_of(header, level.path);
  out.spacing_mm_yx = {spacing[0], spacing[1]};
  out.thickness_mm = thickness_of(header);
  out.origin_mm_xy = origin_of(header);
  SourceSeries& series = out.series;
  series.study_uid = needed_text(header, DCM_StudyInstanceUID, level.path);
  series.series_uid = needed_text(header, DCM_SeriesInstanceUID, level.path);
  series.frame_of_reference_uid = needed_text(header, DCM_FrameOfReferenceUID, level.path);
  series.modality = imaging::text_of(header, DCM_Modality);
  series.utf8 = imaging::text_of(header, DCM_SpecificCharacterSet) == "ISO_IR 192";
  series.slices.resize(1);
  series.slices[0].sop_class_uid = needed_text(header, DCM_SOPClassUID, level.path);
  series.slices[0].sop_instance_uid = needed_text(header, DCM_SOPInstanceUID, level.path);
  series.header = std::move(level.file);
  return out;
}

}  // namespace headrace::handover
