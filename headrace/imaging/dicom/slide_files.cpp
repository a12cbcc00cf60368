#include "headrace/imaging/dicom/slide_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/dcmtk_file.hpp"
#include "headrace/imaging/file_kind.hpp"

namespace headrace::imaging {
namespace {

struct SlideFile {
  std::string path, series;
  double pixels = 0;  ///< of the whole picture
  int optical_paths = 1;
  bool level = false;
};

/// source: DICOM PS3.3, C.8.12.4: NumberOfOpticalPaths, stated where tiles have no place of their
/// own
int optical_paths_of(DcmItem& data) {
  if (const auto stated = number_of(data, DCM_NumberOfOpticalPaths))
    return static_cast<int>(std::clamp(*stated, 1.0, 1e6));
  DcmSequenceOfItems* paths = nullptr;
  if (data.findAndGetSequence(DCM_OpticalPathSequence, paths).bad() || paths == nullptr) return 1;
  return static_cast<int>(std::max<unsigned long>(1, paths->card()));
}

/// source: DICOM PS3.3, C.8.12.4.1.1: value 3 of ImageType is VOLUME, LABEL, OVERVIEW or THUMBNAIL.
/// Writers that leave it out (Orthanc's) have tissue alone.
std::optional<SlideFile> read_slide_file(const std::string& path) {
  try {
    if (!looks_like_dicom(path)) return std::nullopt;
    const auto file = load_dicom(path, false);
    DcmItem& data = *file->getDataset();
    if (text_of(data, DCM_SOPClassUID) != UID_VLWholeSlideMicroscopyImageStorage)
      return std::nullopt;
    SlideFile found;
    found.path = path;
    found.series = text_of(data, DCM_SeriesInstanceUID);
    OFString kind;
    found.level = data.findAndGetOFString(DCM_ImageType, kind, 2).bad() || kind == "VOLUME";
    found.optical_paths = optical_paths_of(data);
    found.pixels = number_of(data, DCM_TotalPixelMatrixRows).value_or(0) *
                   number_of(data, DCM_TotalPixelMatrixColumns).value_or(0);
    return found;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    return std::nullopt;
  }
}

}  // namespace

std::vector<DicomSlideFiles> find_dicom_slides(const std::vector<std::string>& files) {
  std::map<std::pair<std::string, std::string>, std::vector<SlideFile>> groups;
  for (const std::string& path : files) {
    auto file = read_slide_file(path);
    if (!file) continue;
    // Without an identifier a file can only be a slide by itself.
    const std::string series = file->series.empty() ? "file " + path : file->series;
    groups[{std::filesystem::path(path).parent_path().string(), series}].push_back(
        std::move(*file));
  }
  std::vector<DicomSlideFiles> slides;
  for (auto& [key, group] : groups) {
    std::sort(group.begin(), group.end(), [](const SlideFile& a, const SlideFile& b) {
      return a.pixels != b.pixels ? a.pixels > b.pixels : a.path < b.path;
    });
    DicomSlideFiles slide;
    slide.series = group.front().series;
    for (const SlideFile& file : group) {
      (file.level ? slide.levels : slide.associated).push_back(file.path);
      if (file.level) slide.optical_paths = std::max(slide.optical_paths, file.optical_paths);
    }
    slides.push_back(std::move(slide));
  }
  const auto first = [](const DicomSlideFiles& s) {
    return s.levels.empty() ? s.associated.front() : s.levels.front();
  };
  std::sort(slides.begin(), slides.end(),
            [&](const auto& a, const auto& b) { return first(a) < first(b); });
  return slides;
}

}  // namespace headrace::imaging
