#include "headrace/imaging/dicom/sort_series.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

/// The files of one SeriesInstanceUID; those without one lie in one folder.
std::string series_key(const FileHeader& header) {
  return header.series_uid.empty() ? "folder " + fs::path(header.path).parent_path().string()
                                   : "series " + header.series_uid;
}

/// A scout, and a picture in another unit, is no part of its series' volume, whatever it states.
bool may_be_slice(const FileHeader& file) {
  const PictureHeader& picture = file.pictures.front();
  return !picture.localizer && picture.other_values.empty();
}

/// What all slices of a series have in common.
struct Fact {
  const char* words;  ///< of several
  std::string (*of)(const FileHeader& file);
  /// Programs that make identifiers anew may give one to each picture: those then say nothing.
  bool may_be_new;
};

const std::array<Fact, 4> kFacts{
    {{"patients", [](const FileHeader& file) { return file.patient_id; }, false},
     {"studies", [](const FileHeader& file) { return file.study_uid; }, true},
     {"modalities", [](const FileHeader& file) { return std::string(name_of(file.modality)); },
      false},
     {"frames of reference", [](const FileHeader& file) { return file.frame_of_reference_uid; },
      true}}};

/// How many values the slices have; 1 where they do not tell series apart. What is not stated says
/// nothing.
std::size_t values_of(const Fact& fact, const std::vector<const FileHeader*>& files) {
  std::map<std::string, std::size_t> pictures;
  for (const FileHeader* file : files) {
    if (may_be_slice(*file)) pictures[fact.of(*file)] += file->pictures.size();
  }
  pictures.erase("");
  const bool anew =
      fact.may_be_new && std::all_of(pictures.begin(), pictures.end(),
                                     [](const auto& value) { return value.second == 1; });
  return anew || pictures.empty() ? 1 : pictures.size();
}

/// "2 patients and 2 studies"; empty where the files are one series.
std::string several_of(const std::vector<const FileHeader*>& files) {
  std::vector<std::string> found;
  for (const Fact& fact : kFacts) {
    const std::size_t values = values_of(fact, files);
    if (values > 1) found.push_back(fmt::format("{} {}", values, fact.words));
  }
  if (found.empty()) return {};
  const std::string last = found.back();
  found.pop_back();
  return found.empty() ? last : fmt::format("{} and {}", fmt::join(found, ", "), last);
}

SeriesFiles apart(const std::string& key, const std::vector<const FileHeader*>& files) {
  SeriesFiles parts;
  for (const FileHeader* file : files) {
    std::string own = key;
    for (const Fact& fact : kFacts) own += "\n" + fact.of(*file);
    parts[own].push_back(file);
  }
  return parts;
}

DicomProblem several_series(const std::string& several, const SeriesFiles& parts,
                            const std::string& series) {
  std::vector<std::string> paths;  // of slices, in an order that their identifiers do not decide
  for (const auto& [key, files] : parts) paths.push_back(files.front()->path);
  std::sort(paths.begin(), paths.end());
  return {
      fmt::format("one SeriesInstanceUID for {} (with {} and {}): these are several series, and "
                  "their slices can't be one volume. Leave out those that do not belong, or "
                  "read them from folders of their own.",
                  several, paths.front(), paths.back()),
      "",
      {series}};
}

/// Whether a file without a place is as the slices of a series are.
bool as_slices(const FileHeader& file, const std::vector<const FileHeader*>& slices) {
  return std::any_of(slices.begin(), slices.end(), [&](const FileHeader* slice) {
    return may_be_slice(*slice) && file.modality == slice->modality &&
           file.rows == slice->pictures.front().rows &&
           file.columns == slice->pictures.front().columns && file.derived == slice->derived;
  });
}

/// A screen saved into a series has its places, but not its values. A program that writes whole
/// series as such pictures is believed.
void leave_out_captures(std::vector<const FileHeader*>& files, DicomScan& scan) {
  const auto capture = [](const FileHeader* file) { return file->secondary_capture; };
  if (std::all_of(files.begin(), files.end(), capture)) return;
  for (const FileHeader* file : files) {
    if (!capture(file)) continue;
    ++scan.other_files;
    scan.unused.push_back({file->path, "a secondary capture within a series"});
  }
  std::erase_if(files, capture);
}

}  // namespace

SeriesFiles sort_series(const std::vector<const FileHeader*>& files, const Pseudonymizer& pseudonym,
                        DicomScan& scan) {
  SeriesFiles by_identifier, sorted;
  for (const FileHeader* file : files) by_identifier[series_key(*file)].push_back(file);
  for (auto& [key, of_one] : by_identifier) {
    if (key.starts_with("series")) leave_out_captures(of_one, scan);
    const std::string several = several_of(of_one);
    if (several.empty()) {
      sorted[key] = std::move(of_one);
      continue;
    }
    SeriesFiles parts = apart(key, of_one);
    const std::string& identifier = of_one.front()->series_uid;
    if (!identifier.empty()) {
      scan.problems.push_back(several_series(several, parts, pseudonym("series", identifier)));
    }
    sorted.merge(parts);
  }
  return sorted;
}

std::vector<DicomProblem> slices_without_place(const std::vector<const FileHeader*>& files,
                                               const SeriesFiles& series,
                                               const Pseudonymizer& pseudonym) {
  std::map<std::string, std::vector<const FileHeader*>> slices, lost;
  for (const auto& [key, of_series] : series) {
    auto& all = slices[of_series.front()->series_uid];
    all.insert(all.end(), of_series.begin(), of_series.end());
  }
  for (const FileHeader* file : files) {
    const auto found = slices.find(file->series_uid);
    if (file->series_uid.empty() || found == slices.end()) continue;
    if (!file->secondary_capture && !file->localizer && as_slices(*file, found->second))
      lost[file->series_uid].push_back(file);
  }
  constexpr std::size_t kNamed = 3;
  std::vector<DicomProblem> problems;
  for (const auto& [identifier, without] : lost) {
    std::vector<std::string> paths;
    for (const FileHeader* file : without) {
      if (paths.size() < kNamed) paths.push_back(file->path);
    }
    DicomProblem problem;
    problem.text = fmt::format(
        "{}{}: {} the SeriesInstanceUID and the size of the slices beside {}, but no place in space "
        "(ImagePositionPatient, ImageOrientationPatient, PixelSpacing), so the series with {} lacks "
        "{}. Complete {}, or have {} left out ({} skip).",
        fmt::join(paths, ", "), without.size() > kNamed ? ", …" : "",
        without.size() == 1 ? "has" : "have", without.size() == 1 ? "it" : "them",
        slices.at(identifier).front()->path,
        without.size() == 1 ? "a slice" : fmt::format("{} slices", without.size()),
        without.size() == 1 ? "its header" : "their headers", without.size() == 1 ? "it" : "them",
        Option{"on_error"});
    problem.path = without.front()->path;
    problem.series = {pseudonym("series", identifier)};
    problem.lost = true;
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace headrace::imaging
