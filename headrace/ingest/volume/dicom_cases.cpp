#include "headrace/ingest/volume/dicom_cases.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/ingest/names/store_names.hpp"

namespace headrace::ingest {
namespace {

using imaging::DicomSeries;
using imaging::Modality;

/// Stacks and series of so few beside a larger one of their series or study are not a volume.
constexpr std::size_t kScoutSlices = 2;

std::string plural(std::size_t count, const std::string& one, const std::string& several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

VolumeCase case_of_series(const DicomSeries& series) {
  VolumeCase volume;
  volume.case_id = pseudonym_case(series.patient);
  volume.id = pseudonym_id(series.patient, series.series);
  volume.phase = series.phase;
  volume.series = series;
  return volume;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

/// Hashes of the series that can't be used.
/// stops: whether a bad input ends the run; else series are read without slices that lost their
/// content.
std::set<std::string> broken_series(const imaging::DicomScan& scan, bool stops) {
  std::set<std::string> broken, folders;
  for (const imaging::DicomProblem& problem : scan.problems) {
    if (problem.lost && !stops) continue;
    broken.insert(problem.series.begin(), problem.series.end());
    if (problem.series.empty()) folders.insert(folder_of(problem.path));
  }
  for (const DicomSeries& series : scan.series) {
    const bool beside = std::any_of(
        series.slices.begin(), series.slices.end(),
        [&](const imaging::DicomSlice& slice) { return folders.contains(folder_of(slice.path)); });
    const bool part = std::any_of(series.joined.begin(), series.joined.end(),
                                  [&](const auto& member) { return broken.contains(member); });
    if (beside || part) broken.insert(series.series);
  }
  return broken;
}

/// Whether the series of a problem are ones that would become volumes.
bool of_taken_series(const imaging::DicomProblem& problem, const imaging::DicomScan& scan,
                     const ChannelList& channels) {
  const auto named = [&](const std::string& series) {
    return std::find(problem.series.begin(), problem.series.end(), series) != problem.series.end();
  };
  return std::any_of(scan.series.begin(), scan.series.end(), [&](const DicomSeries& series) {
    return is_taken(series, channels) &&
           (named(series.series) || std::any_of(series.joined.begin(), series.joined.end(), named));
  });
}

void note_problems(const imaging::DicomScan& scan, const ChannelList& channels, BadInputs& bad) {
  for (const imaging::DicomProblem& problem : scan.problems) {
    if (!problem.series.empty() && !of_taken_series(problem, scan, channels)) continue;
    if (!problem.series.empty() && !problem.path.empty()) {
      bad.add({problem.path, problem.code, problem.text});
      continue;
    }
    if (problem.path.empty()) {
      bad.add({"DICOM series", ErrorCode::malformed, problem.text});
      continue;
    }
    std::set<std::string> beside;
    for (const DicomSeries& series : scan.series) {
      for (const auto& slice : series.slices) {
        if (is_taken(series, channels) && folder_of(slice.path) == folder_of(problem.path))
          beside.insert(series.series);
      }
    }
    if (problem.lost && beside.empty()) continue;  // of series that are not taken
    bad.add({problem.path, problem.code,
             beside.empty() || problem.lost
                 ? problem.text
                 : fmt::format("{} (and with it {} in its folder, of which it may be a "
                               "slice)",
                               problem.text, plural(beside.size(), "series", "series"))});
  }
}

/// The first file that can't be read and has no slice beside it that shows its study.
std::string unplaced_problem(const imaging::DicomScan& scan) {
  std::set<std::string> folders;
  for (const DicomSeries& series : scan.series) {
    for (const auto& slice : series.slices) folders.insert(folder_of(slice.path));
  }
  for (const imaging::DicomProblem& problem : scan.problems) {
    if (problem.lost) continue;
    if (!problem.path.empty() && !folders.contains(folder_of(problem.path))) return problem.path;
  }
  return {};
}

/// Patients and studies with a PET series whose attenuation is corrected.
std::set<std::string> studies_with_corrected_pet(const imaging::DicomScan& scan) {
  std::set<std::string> studies;
  for (const DicomSeries& series : scan.series) {
    if (series.modality == Modality::pet && series.attenuation_corrected)
      studies.insert(series.patient + series.study);
  }
  return studies;
}

/// Whether several pictures lie in one place, as those that wait for a bolus: no volume.
bool lies_in_one_place(const DicomSeries& series) {
  constexpr double kSamePlaceMm = 1e-3;
  const auto normal = imaging::cross(series.row_direction, series.column_direction);
  const auto along = [&](const imaging::DicomSlice& slice) {
    return imaging::dot(slice.position_lps_mm, normal);
  };
  return series.slices.size() > 1 &&
         std::all_of(series.slices.begin(), series.slices.end(), [&](const auto& slice) {
           return std::abs(along(slice) - along(series.slices.front())) < kSamePlaceMm;
         });
}

/// Which acquisitions of the series that hold several are taken.
class AcquisitionChoice {
 public:
  AcquisitionChoice(const imaging::DicomScan& scan, std::string which) : which_(std::move(which)) {
    for (const DicomSeries& series : scan.series) {
      if (series.acquisitions > 1 && !lies_in_one_place(series))
        stacks_[key_of(series)].push_back(&series);
    }
  }

  /// Why a series can't be taken without another choice.
  std::optional<std::string> problem(const DicomSeries& series) const {
    if (!is_one_of_several(series)) return std::nullopt;
    const auto& all = stacks_.at(key_of(series));
    const std::string first = all.front()->slices.front().path;
    if (which_.empty()) {
      return fmt::format(
          "the series with {} holds {} acquisitions, time points or reconstructions, told apart by "
          "{}: {}. Choose one ({} with its number, first or last), or take each as an image of its "
          "own (all), or all as one stack (together).",
          first, all.size(), series.acquisitions_by, list(all), Option{"acquisition"});
    }
    if (which_ == "first" || which_ == "last" || which_ == "all") return std::nullopt;
    for (const DicomSeries* one : all) {
      if (std::to_string(number(*one, all)) == which_) return std::nullopt;
    }
    return fmt::format("the series with {} has no acquisition {}; it has {}", first, which_,
                       list(all));
  }

  /// Of a series without a problem; counts those that are not taken.
  bool takes(const DicomSeries& series) {
    if (!is_one_of_several(series) || which_ == "all") return true;
    const auto& all = stacks_.at(key_of(series));
    const bool taken = which_ == "first"  ? &series == all.front()
                       : which_ == "last" ? &series == all.back()
                                          : std::to_string(number(series, all)) == which_;
    left_out_ += taken ? 0 : 1;
    return taken;
  }
  std::size_t left_out() const noexcept { return left_out_; }

 private:
  using Parts = std::vector<const DicomSeries*>;

  bool is_one_of_several(const DicomSeries& series) const {
    return series.acquisitions > 1 && stacks_.at(key_of(series)).size() > 1;
  }
  static std::string key_of(const DicomSeries& series) {
    return fmt::format("{} {} {} {}", series.patient, series.study, series.series, series.stack);
  }
  /// AcquisitionNumber where that tells all apart, else their order.
  static int number(const DicomSeries& series, const Parts& all) {
    std::set<int> numbers;
    for (const DicomSeries* one : all) {
      if (one->acquisition_number) numbers.insert(*one->acquisition_number);
    }
    return numbers.size() == all.size() ? *series.acquisition_number
                                        : static_cast<int>(series.acquisition);
  }
  static std::string list(const Parts& all) {
    constexpr std::size_t kNamed = 8;
    std::vector<std::string> parts;
    for (const DicomSeries* one : all) {
      if (parts.size() == kNamed) {
        parts.emplace_back("…");
        break;
      }
      parts.push_back(
          fmt::format("{} ({})", number(*one, all), plural(one->slices.size(), "slice", "slices")));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  std::map<std::string, Parts> stacks_;  ///< of series that hold several
  std::string which_;
  std::size_t left_out_ = 0;
};

/// Stacks of one SeriesInstanceUID: the largest first, then by their own geometry.
std::vector<const DicomSeries*> by_size(std::vector<const DicomSeries*> stacks) {
  std::stable_sort(stacks.begin(), stacks.end(), [](const DicomSeries* a, const DicomSeries* b) {
    return a->slices.size() > b->slices.size();
  });
  return stacks;
}

}  // namespace

bool is_taken(const DicomSeries& series, const ChannelList& channels) {
  const auto unit = imaging::unit_of(series.modality);
  if (!unit || series.localizer || !series.other_values.empty()) return false;
  if (lies_in_one_place(series)) return false;
  return *unit == IntensityUnit::hu || channels.has(*unit);
}

DicomCases cases_of_scan(const imaging::DicomScan& scan, const ChannelList& channels,
                         const std::string& acquisition, BadInputs& bad) {
  const std::set<std::string> broken = broken_series(scan, bad.stops());
  const std::set<std::string> corrected = studies_with_corrected_pet(scan);
  note_problems(scan, channels, bad);
  DicomCases found;
  found.unplaced = unplaced_problem(scan);
  for (const auto& file : scan.unused) found.unused.push_back({file.path, file.reason});
  std::set<std::string> uncorrected, refused;
  AcquisitionChoice chosen(scan, acquisition);
  std::map<std::string, std::vector<const DicomSeries*>> stacks;
  for (const DicomSeries& series : scan.series) {
    if (!is_taken(series, channels)) continue;
    if (!series.attenuation_corrected && corrected.contains(series.patient + series.study)) {
      uncorrected.insert(series.series);
      continue;
    }
    if (broken.contains(series.series)) {
      found.broken_studies.insert(pseudonym_id(series.patient, series.study));
    } else if (const auto why = chosen.problem(series)) {
      found.broken_studies.insert(pseudonym_id(series.patient, series.study));
      if (refused.insert(*why).second) bad.add({describe("", series), ErrorCode::malformed, *why});
    } else if (chosen.takes(series)) {
      stacks[series.patient + series.study + series.series].push_back(&series);
    }
  }
  std::map<std::string, std::size_t> largest;  // stack of a study
  for (auto& [key, of_series] : stacks) {
    of_series = by_size(of_series);
    std::size_t& slices = largest[of_series.front()->patient + of_series.front()->study];
    slices = std::max(slices, of_series.front()->slices.size());
  }
  std::size_t small = 0, split = 0, small_series = 0;
  for (const auto& [key, of_series] : stacks) {
    const DicomSeries& first = *of_series.front();
    if (first.slices.size() <= kScoutSlices &&
        largest.at(first.patient + first.study) > kScoutSlices) {
      ++small_series;
      continue;
    }
    int number = 1;
    for (const DicomSeries* stack : of_series) {
      if (stack != of_series.front() && stack->slices.size() <= kScoutSlices &&
          of_series.front()->slices.size() > kScoutSlices) {
        ++small;
        continue;
      }
      VolumeCase volume = case_of_series(*stack);
      if (number > 1) volume.id += fmt::format("-{}", number);
      ++number;
      split += number == 3;
      found.cases.push_back(std::move(volume));
    }
  }
  if (split > 0) {
    found.notes.push_back(
        fmt::format("{} of pictures of several sizes, pixel spacings or orientations: a volume for "
                    "each, the later ones with -2, -3 … after the name.",
                    plural(split, "series", "series")));
  }
  if (const std::string others = other_series(scan, channels);
      !others.empty() && !found.cases.empty()) {
    found.notes.push_back(others +
                          (channels.has(IntensityUnit::suv)
                               ? " left out: only volumes of CT in HU and PET are taken."
                               : " left out: only volumes of CT in Hounsfield units are taken."));
  }
  if (!uncorrected.empty()) {
    found.notes.push_back(fmt::format("{} of PET without correction of attenuation left out.",
                                      plural(uncorrected.size(), "series", "series")));
  }
  if (chosen.left_out() > 0) {
    found.notes.push_back(fmt::format("{} of series that hold several left out ({} {}).",
                                      plural(chosen.left_out(), "acquisition", "acquisitions"),
                                      Option{"acquisition"}, acquisition));
  }
  if (small_series > 0) {
    found.notes.push_back(fmt::format(
        "{} of one or two pictures left out, beside a larger one of the same study: scouts and "
        "pictures before the scan look so. In a folder of its own such a series is taken.",
        plural(small_series, "series", "series")));
  }
  if (small > 0) {
    found.notes.push_back(fmt::format(
        "{} of one or two slices left out: another size or orientation than the rest of the "
        "series.",
        plural(small, "stack", "stacks")));
  }
  found.skipped = small + small_series + chosen.left_out() +
                  static_cast<std::size_t>(std::count_if(
                      scan.series.begin(), scan.series.end(), [&](const DicomSeries& s) {
                        return !is_taken(s, channels) || uncorrected.contains(s.series);
                      }));
  return found;
}

std::string other_series(const imaging::DicomScan& scan, const ChannelList& channels) {
  std::map<Modality, std::set<std::string>> others;
  std::map<std::string, std::set<std::string>> units;
  std::set<std::string> scouts, monitorings, unstated;
  for (const DicomSeries& series : scan.series) {
    if (is_taken(series, channels)) continue;
    if (series.localizer && imaging::unit_of(series.modality)) {
      scouts.insert(series.series);
    } else if (!series.other_values.empty()) {
      units[series.other_values].insert(series.series);
    } else if (imaging::unit_of(series.modality) && lies_in_one_place(series)) {
      monitorings.insert(series.series);
    } else if (!series.modality_stated) {
      unstated.insert(series.series);
    } else {
      others[series.modality].insert(series.series);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [modality, series] : others) {
    const std::string name = modality == Modality::other
                                 ? "a modality other than CT, MR and PET"
                                 : "modality " + std::string(name_of(modality));
    parts.push_back(plural(series.size(), "series of ", "series of ") + name);
  }
  for (const auto& [words, series] : units)
    parts.push_back(plural(series.size(), "series of CT with ", "series of CT with ") + words);
  if (!unstated.empty()) {
    parts.push_back(plural(unstated.size(), "series whose headers state no modality",
                           "series whose headers state no modality"));
  }
  if (!monitorings.empty())
    parts.push_back(plural(monitorings.size(), "series whose pictures all lie in one place",
                           "series whose pictures all lie in one place"));
  if (!scouts.empty()) parts.push_back(plural(scouts.size(), "scout", "scouts"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string series_numbers(const std::vector<VolumeCase>& cases) {
  std::vector<std::string> numbers;
  for (const auto& volume : cases) {
    const auto number = volume.series ? volume.series->series_number : std::nullopt;
    numbers.push_back(number ? std::to_string(*number) : "none");
  }
  return fmt::format("{}", fmt::join(numbers, ", "));
}

}  // namespace headrace::ingest
