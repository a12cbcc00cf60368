#include "headrace/imaging/dicom/join_series.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/imaging/dicom/stack_up.hpp"

namespace headrace::imaging {
namespace {

constexpr std::size_t kManySeries = 3;  ///< of one slice each: no study has them
constexpr double kSamePlaceMm = 1e-3;

std::size_t pictures_of(const std::vector<const FileHeader*>& files) {
  std::size_t count = 0;
  for (const FileHeader* file : files) count += file->pictures.size();
  return count;
}

/// What parts of one series have in common. A frame of reference, or a study, of one picture alone
/// says as little as its series does: a program made all identifiers anew.
std::string common_key(const FileHeader& file, bool alone_in_series, bool alone_in_study) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", file.patient_id, alone_in_study ? "" : file.study_uid,
                     alone_in_series ? "" : file.frame_of_reference_uid,
                     file.series_number ? std::to_string(*file.series_number) : "none",
                     name_of(file.modality));
}

bool fits_as_one(const std::vector<const FileHeader*>& files) {
  const PictureHeader& first = files.front()->pictures.front();
  const Vec3 normal = cross(first.row_direction, first.column_direction);
  std::vector<double> places;
  for (const FileHeader* file : files) {
    for (const PictureHeader& picture : file->pictures) {
      if (!same_plane(first, picture)) return false;
      places.push_back(dot(picture.position_lps_mm, normal));
    }
  }
  std::sort(places.begin(), places.end());
  return !first.localizer &&
         std::adjacent_find(places.begin(), places.end(), [](double a, double b) {
           return b - a < kSamePlaceMm;
         }) == places.end();
}

/// Series that the text of a problem names by a slice each, at most a few.
std::string named(const std::vector<const DicomSeries*>& series) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < std::min(kNamed, series.size()); ++i)
    paths.push_back(series[i]->slices.front().path);
  return fmt::format("{}{}", fmt::join(paths, " and "), series.size() > kNamed ? " …" : "");
}

}  // namespace

std::vector<SplitSeries> find_split_series(const SeriesFiles& series) {
  std::map<std::string, std::size_t> in_study;
  for (const auto& [key, files] : series) in_study[files.front()->study_uid] += pictures_of(files);
  std::map<std::string, SplitSeries> alike;
  for (const auto& [key, files] : series) {
    const FileHeader& first = *files.front();
    if (!unit_of(first.modality)) continue;
    alike[common_key(first, pictures_of(files) == 1, in_study.at(first.study_uid) == 1)].push_back(
        key);
  }
  std::vector<SplitSeries> split;
  for (const auto& [common, keys] : alike) {
    std::vector<const FileHeader*> all;
    for (const std::string& key : keys) {
      const auto& files = series.at(key);
      all.insert(all.end(), files.begin(), files.end());
    }
    const bool single = pictures_of(all) == keys.size();
    const bool numbered = all.front()->series_number.has_value();
    if (keys.size() < 2 || (!numbered && !(single && keys.size() >= kManySeries))) continue;
    if (fits_as_one(all)) split.push_back(keys);
  }
  return split;
}

void join_series(const std::vector<SplitSeries>& split, SeriesFiles& series) {
  for (const SplitSeries& keys : split) {
    std::vector<const FileHeader*> all;
    for (const std::string& key : keys) {
      const auto& files = series.at(key);
      all.insert(all.end(), files.begin(), files.end());
      series.erase(key);
    }
    series["joined " + keys.front()] = std::move(all);
  }
}

void find_same_numbers(const std::vector<SplitSeries>& split, const Pseudonymizer& pseudonym,
                       DicomScan& scan) {
  std::set<std::string> parts;
  for (const SplitSeries& keys : split) {
    std::set<std::string> hashes;
    for (const std::string& key : keys) {
      constexpr std::string_view kWord = "series ";
      if (key.starts_with(kWord)) hashes.insert(pseudonym("series", key.substr(kWord.size())));
    }
    std::vector<const DicomSeries*> found;
    for (const DicomSeries& series : scan.series) {
      if (hashes.contains(series.series)) found.push_back(&series);
    }
    if (found.size() < 2 || found.front()->modality != Modality::ct) continue;
    scan.problems.push_back(
        {fmt::format(
             "{} series of one study have the same number{} and fit each other as parts of "
             "one (with {}). If they are one, whose slices got an identifier each, give {}; "
             "else read them from folders of their own.",
             found.size(),
             found.front()->series_number ? fmt::format(" {}", *found.front()->series_number)
                                          : std::string(", none,"),
             named(found), Option{"join_series"}),
         "",
         {hashes.begin(), hashes.end()}});
    parts.merge(hashes);
  }
  std::map<std::tuple<std::string, int>, std::vector<const DicomSeries*>> numbers;
  for (const DicomSeries& series : scan.series) {
    if (!series.series_number || series.study.empty() || parts.contains(series.series)) continue;
    if (series.modality != Modality::ct || series.localizer || !series.other_values.empty())
      continue;
    auto& same = numbers[{series.study, *series.series_number}];
    const bool seen = std::any_of(same.begin(), same.end(), [&](const DicomSeries* other) {
      return other->series == series.series;
    });
    if (!seen) same.push_back(&series);
  }
  for (const auto& [key, same] : numbers) {
    if (same.size() < 2) continue;
    DicomProblem problem;
    problem.text = fmt::format(
        "{} series of one study have the same number {} (with {}): series numbers can't tell them "
        "apart. Leave one out, correct its number, or read them from folders of their own.",
        same.size() == 2 ? "two" : std::to_string(same.size()), std::get<1>(key), named(same));
    for (const DicomSeries* series : same) problem.series.push_back(series->series);
    scan.problems.push_back(std::move(problem));
  }
}

}  // namespace headrace::imaging
