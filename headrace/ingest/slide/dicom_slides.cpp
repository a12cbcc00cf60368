#include "headrace/ingest/slide/dicom_slides.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/imaging/dicom/slide_files.hpp"
#include "headrace/ingest/inputs/image_search.hpp"
#include "headrace/ingest/names/case_rules.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;
using imaging::DicomSlideFiles;

std::string folder_of(const std::string& file) { return fs::path(file).parent_path().string(); }

/// Files of one folder are distinguished by their names, however the folder was written.
bool contains(const std::vector<std::string>& files, const std::string& file) {
  const fs::path name = fs::path(file).filename();
  return std::any_of(files.begin(), files.end(),
                     [&](const auto& one) { return fs::path(one).filename() == name; });
}

std::vector<std::string> dicom_files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : list_folder(folder.empty() ? "." : folder)) {
    std::error_code no_file;  // such as a loop of links
    if (!entry.is_regular_file(no_file) || !is_named_or_seen_dicom(entry.path().string())) continue;
    files.push_back((fs::path(folder) / entry.path().filename()).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The slides of the folders that were asked for.
class Folders {
 public:
  /// The slide that a file belongs to; null when it is none in DICOM.
  const DicomSlideFiles* find(const std::string& file) {
    for (const DicomSlideFiles& slide : slides_of(folder_of(file))) {
      if (contains(slide.levels, file) || contains(slide.associated, file)) return &slide;
    }
    return nullptr;
  }

  /// Slides of several files have no name of their own.
  std::string name_of(const DicomSlideFiles& slide) {
    const std::string folder = folder_of(slide.levels.front());
    const auto& all = slides_of(folder);
    const auto with_levels =
        std::count_if(all.begin(), all.end(), [](const auto& s) { return !s.levels.empty(); });
    if (slide.levels.size() == 1 || with_levels > 1) return id_of_file(slide.levels.front());
    return plain_id((fs::absolute(folder.empty() ? "." : folder) / "")
                        .lexically_normal()
                        .parent_path()
                        .filename()
                        .string());
  }

 private:
  const std::vector<DicomSlideFiles>& slides_of(const std::string& folder) {
    const auto [found, fresh] = by_folder_.try_emplace(folder);
    if (fresh) found->second = imaging::find_dicom_slides(dicom_files_of(folder));
    return found->second;
  }

  std::map<std::string, std::vector<DicomSlideFiles>> by_folder_;
};

/// The folders in which levels of each series lie, by the folders' real paths.
using SeriesFolders = std::map<std::string, std::set<std::string>>;

SeriesFolders folders_of_series(Folders& folders, const std::vector<SlideCase>& slides) {
  SeriesFolders found;
  for (const SlideCase& slide : slides) {
    if (!is_named_or_seen_dicom(slide.file)) continue;
    const DicomSlideFiles* files = folders.find(slide.file);
    if (files == nullptr || files->series.empty() || files->levels.empty()) continue;
    const std::string folder = folder_of(files->levels.front());
    found[files->series].insert(fs::weakly_canonical(folder.empty() ? "." : folder).string());
  }
  return found;
}

/// Errors: usage (levels in several folders), unsupported (several optical paths).
void check_whole(const SlideCase& slide, const DicomSlideFiles& files,
                 const SeriesFolders& folders) {
  const auto found = folders.find(files.series);
  if (found != folders.end() && found->second.size() > 1) {
    fail(ErrorCode::usage,
         "{}: its series has levels in {} folders ({}, …), which would become images of their own; "
         "copy the files of a slide into one folder, or name one of the folders",
         describe(slide), found->second.size(), *found->second.begin());
  }
  if (files.optical_paths > 1) {
    fail(
        ErrorCode::unsupported,
        "{}: holds {} optical paths, of which OpenSlide reads the first alone; convert the one that "
        "is meant to a file of its own",
        describe(slide), files.optical_paths);
  }
}

[[noreturn]] void twice(const SlideCase& slide, const SlideCase& before) {
  fail(ErrorCode::usage, "{}: is of the same DICOM slide as {}; name one of its files",
       describe(slide), describe(before));
}

}  // namespace

std::uint64_t join_dicom_slides(std::vector<SlideCase>& slides, BadInputs& bad) {
  Folders folders;
  std::map<const DicomSlideFiles*, std::size_t> seen;  // number in `joined`
  std::vector<SlideCase> joined;
  std::uint64_t associated = 0;
  const SeriesFolders series_folders = folders_of_series(folders, slides);
  for (SlideCase& slide : slides) {
    const DicomSlideFiles* files =
        is_named_or_seen_dicom(slide.file) ? folders.find(slide.file) : nullptr;
    if (files == nullptr) {
      joined.push_back(std::move(slide));
      continue;
    }
    const auto& levels = files->levels;
    const bool is_level = contains(levels, slide.file);
    const bool of_table = !slide.where.empty();
    if (!is_level && !of_table) {
      ++associated;
      continue;
    }
    const bool good = bad.look(describe(slide), [&] {
      if (!is_level) {
        fail(ErrorCode::usage, "{}: is the label, overview or thumbnail of a slide, not a level",
             describe(slide));
      }
      check_whole(slide, *files, series_folders);
      if (of_table && seen.contains(files)) twice(slide, joined[seen.at(files)]);
    });
    if (!good || !seen.try_emplace(files, joined.size()).second) continue;
    if (slide.id.empty()) slide.id = folders.name_of(*files);
    slide.file = levels.front();
    slide.parts.assign(levels.begin() + 1, levels.end());
    joined.push_back(std::move(slide));
  }
  slides = std::move(joined);
  return associated;
}

}  // namespace headrace::ingest
