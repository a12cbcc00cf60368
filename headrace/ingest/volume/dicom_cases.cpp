#include "headrace/ingest/volume/dicom_cases.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/ingest/store/store_names.hpp"

namespace headrace::ingest {
namespace {

using imaging::DicomSeries;
using imaging::Modality;

constexpr std::size_t kScoutSlices = 2;  ///< stacks of so few beside a larger one are not a volume

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
std::set<std::string> broken_series(const imaging::DicomScan& scan) {
  std::set<std::string> broken, folders;
  for (const imaging::DicomProblem& problem : scan.problems) {
    broken.insert(problem.series.begin(), problem.series.end());
    if (!problem.path.empty()) folders.insert(folder_of(problem.path));
  }
  for (const DicomSeries& series : scan.series) {
    const bool beside = std::any_of(
        series.slices.begin(), series.slices.end(),
        [&](const imaging::DicomSlice& slice) { return folders.contains(folder_of(slice.path)); });
    if (beside) broken.insert(series.series);
  }
  return broken;
}

void note_problems(const imaging::DicomScan& scan, const ChannelList& channels, BadInputs& bad) {
  for (const imaging::DicomProblem& problem : scan.problems) {
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
    bad.add({problem.path, ErrorCode::malformed,
             beside.empty()
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
  if (!unit || series.localizer) return false;
  return *unit == IntensityUnit::hu || channels.has(*unit);
}

DicomCases cases_of_scan(const imaging::DicomScan& scan, const ChannelList& channels,
                         BadInputs& bad) {
  const std::set<std::string> broken = broken_series(scan);
  const std::set<std::string> corrected = studies_with_corrected_pet(scan);
  note_problems(scan, channels, bad);
  DicomCases found;
  found.unplaced = unplaced_problem(scan);
  std::set<std::string> uncorrected;
  std::map<std::string, std::vector<const DicomSeries*>> stacks;
  for (const DicomSeries& series : scan.series) {
    if (!is_taken(series, channels)) continue;
    if (!series.attenuation_corrected && corrected.contains(series.patient + series.study)) {
      uncorrected.insert(series.series);
      continue;
    }
    if (broken.contains(series.series)) {
      found.broken_studies.insert(pseudonym_id(series.patient, series.study));
    } else {
      stacks[series.patient + series.study + series.series].push_back(&series);
    }
  }
  std::size_t small = 0;
  for (auto& [key, of_series] : stacks) {
    of_series = by_size(of_series);
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
      found.cases.push_back(std::move(volume));
    }
  }
  if (const std::string others = other_series(scan, channels);
      !others.empty() && !found.cases.empty()) {
    found.notes.push_back(others + (channels.has(IntensityUnit::suv)
                                        ? " left out: only CT and PET are taken."
                                        : " left out: only CT has Hounsfield units."));
  }
  if (!uncorrected.empty()) {
    found.notes.push_back(fmt::format("{} of PET without correction of attenuation left out.",
                                      plural(uncorrected.size(), "series", "series")));
  }
  if (small > 0) {
    found.notes.push_back(fmt::format(
        "{} of one or two slices left out: another size or orientation than the rest of the "
        "series.",
        plural(small, "stack", "stacks")));
  }
  found.skipped = small + static_cast<std::size_t>(std::count_if(
                              scan.series.begin(), scan.series.end(), [&](const DicomSeries& s) {
                                return !is_taken(s, channels) || uncorrected.contains(s.series);
                              }));
  return found;
}

std::string other_series(const imaging::DicomScan& scan, const ChannelList& channels) {
  std::map<Modality, std::set<std::string>> others;
  std::set<std::string> scouts;
  for (const DicomSeries& series : scan.series) {
    if (is_taken(series, channels)) continue;
    if (series.localizer && imaging::unit_of(series.modality)) {
      scouts.insert(series.series);
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
  if (!scouts.empty()) parts.push_back(plural(scouts.size(), "scout", "scouts"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> attach_label_objects(const std::vector<imaging::DicomLabelFile>& labels,
                                              std::vector<VolumeCase>& cases) {
  std::map<std::string, VolumeCase*> by_series;
  std::map<std::string, std::vector<VolumeCase*>> by_frame;
  const auto know = [&](VolumeCase& volume, const DicomSeries& series) {
    // The largest stack of a series comes first; labels of the series refer to it.
    by_series.try_emplace(series.series, &volume);
    if (series.frame_of_reference.empty()) return;
    auto& there = by_frame[series.patient + series.frame_of_reference];
    if (there.empty() || there.back() != &volume) there.push_back(&volume);
  };
  for (VolumeCase& volume : cases) {
    if (volume.series) know(volume, *volume.series);
    for (const ChannelSource& channel : volume.further) {
      if (channel.series) know(volume, *channel.series);
    }
  }
  std::vector<const imaging::DicomLabelFile*> ordered;
  for (const auto& label : labels) ordered.push_back(&label);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](auto* a, auto* b) { return a->instance < b->instance; });
  std::vector<std::string> unused;
  std::set<std::string> seen;
  for (const imaging::DicomLabelFile* label : ordered) {
    if (!label->instance.empty() && !seen.insert(label->instance).second) continue;  // a copy
    VolumeCase* image = nullptr;
    for (const std::string& series : label->referenced_series) {
      const auto found = by_series.find(series);
      if (found != by_series.end()) image = found->second;
    }
    if (image == nullptr && label->referenced_series.empty()) {
      const auto found = by_frame.find(label->patient + label->frame_of_reference);
      if (found != by_frame.end() && found->second.size() == 1) image = found->second.front();
    }
    if (image == nullptr) {
      unused.push_back(label->path);
    } else {
      image->labels.push_back(label->path);
    }
  }
  std::sort(unused.begin(), unused.end());
  return unused;
}

}  // namespace headrace::ingest
