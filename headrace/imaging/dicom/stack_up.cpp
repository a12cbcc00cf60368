#include "headrace/imaging/dicom/stack_up.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "headrace/core/error.hpp"
#include "headrace/imaging/dicom/copies.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"

namespace headrace::imaging {
namespace {

bool close(const Vec3& a, const Vec3& b) {
  constexpr double kSameDirection = 1e-3;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(a[i] - b[i]) > kSameDirection) return false;
  }
  return true;
}

/// Files of one series in an order that does not depend on their names.
bool before(const FileHeader& a, const FileHeader& b) {
  const Vec3 pa = a.pictures.front().position_lps_mm, pb = b.pictures.front().position_lps_mm;
  return std::tie(pa[2], pa[1], pa[0], a.instance_uid, a.path) <
         std::tie(pb[2], pb[1], pb[0], b.instance_uid, b.path);
}

DicomSeries start_group(const FileHeader& file, const PictureHeader& picture,
                        const Pseudonymizer& pseudonym) {
  DicomSeries group;
  group.study = pseudonym("study", file.study_uid);
  group.patient = pseudonym("patient", file.patient_id.empty() ? file.study_uid : file.patient_id);
  group.frame_of_reference = pseudonym("frame of reference", file.frame_of_reference_uid);
  group.series_number = file.series_number;
  group.modality = file.modality;
  group.modality_stated = file.modality_stated;
  group.phase = file.phase;
  group.rows = picture.rows;
  group.columns = picture.columns;
  group.spacing_mm_yx = picture.spacing_mm_yx;
  group.row_direction = picture.row_direction;
  group.column_direction = picture.column_direction;
  group.slice_thickness_mm = picture.thickness_mm;
  group.localizer = picture.localizer;
  group.other_values = picture.other_values;
  return group;
}

/// For the files of one series; 1 for modalities other than PET.
SuvFactor suv_of(const std::vector<const FileHeader*>& files) {
  std::vector<const PetHeader*> pet;
  for (const FileHeader* file : files) {
    if (file->modality == Modality::pet) pet.push_back(&file->pet);
  }
  return pet.empty() ? SuvFactor{} : suv_factor(pet);
}

/// Turns the rescaled values of the slices into SUV.
void take_suv(const PetHeader& header, const SuvFactor& suv, DicomSeries& group) {
  group.attenuation_corrected = attenuation_corrected(header);
  group.no_suv = suv.problem;
  for (DicomSlice& slice : group.slices) {
    slice.slope *= suv.factor;
    slice.intercept *= suv.factor;
  }
}

/// Leaves out copies: files with the SOPInstanceUID and place of another one. Identifiers alone say
/// nothing, since some programs give the same one to all slices.
std::size_t leave_out_copies(std::vector<const FileHeader*>& files, DicomScan& scan) {
  std::map<std::pair<std::string, Vec3>, const FileHeader*> seen;
  std::vector<const FileHeader*> kept;
  std::size_t copies = 0;
  for (const FileHeader* file : files) {
    const auto [first, fresh] =
        seen.try_emplace({file->instance_uid, file->pictures.front().position_lps_mm}, file);
    if (fresh || file->instance_uid.empty()) {
      kept.push_back(file);
      continue;
    }
    const FileHeader& other = *first->second;
    try {
      if (!same_pictures(other, *file)) {
        fail(ErrorCode::malformed,
             "{}: has the SOPInstanceUID and the place of {}, but other pixels or another "
             "rescaling. Leave out the one that is wrong.",
             file->path, other.path);
      }
      ++copies;
      scan.unused.push_back({file->path, "a copy of another slice"});
    } catch (const Error& error) {
      scan.problems.push_back({error.what(), file->path, {}, false, error.code()});
    }
  }
  files = std::move(kept);
  return copies;
}

/// A group of pictures in one plane, with what tells their acquisitions apart.
struct Stack {
  const PictureHeader* first = nullptr;
  DicomSeries series;
  std::vector<AcquisitionKeys> keys;  ///< of its slices
};

std::vector<Stack> group_by_plane(const std::vector<const FileHeader*>& files,
                                  const Pseudonymizer& pseudonym) {
  std::vector<Stack> stacks;
  for (const FileHeader* file : files) {
    std::set<std::size_t> touched;
    const std::string instance = pseudonym("instance", file->instance_uid);
    for (std::size_t i = 0; i < file->pictures.size(); ++i) {
      const PictureHeader& picture = file->pictures[i];
      auto stack = std::find_if(stacks.begin(), stacks.end(),
                                [&](const Stack& s) { return same_plane(*s.first, picture); });
      if (stack == stacks.end()) {
        stack = stacks.insert(stacks.end(), {&picture, start_group(*file, picture, pseudonym), {}});
      }
      const bool stated = picture.slope && picture.intercept;
      stack->series.slices.push_back({file->path, static_cast<int>(i), picture.position_lps_mm,
                                      picture.slope.value_or(1), picture.intercept.value_or(0),
                                      stated, instance});
      stack->keys.push_back(picture.acquisition);
      touched.insert(static_cast<std::size_t>(stack - stacks.begin()));
    }
    for (const std::size_t i : touched) stacks[i].series.source_bytes += file->size_bytes;
  }
  return stacks;
}

/// AcquisitionNumber of the slices, where all have the same.
std::optional<int> number_of(const std::vector<AcquisitionKeys>& keys) {
  const std::string& first = keys.front().values[AcquisitionKeys::number];
  const bool one = std::all_of(keys.begin(), keys.end(), [&](const AcquisitionKeys& key) {
    return key.values[AcquisitionKeys::number] == first;
  });
  char* end = nullptr;
  const long value = std::strtol(first.c_str(), &end, 10);
  if (!one || first.empty() || *end != '\0') return std::nullopt;
  return static_cast<int>(value);
}

/// The acquisitions of a stack, each sorted along the normal.
std::vector<DicomSeries> acquisitions_of(Stack stack, const SeriesRules& rules) {
  const Vec3 normal = cross(stack.series.row_direction, stack.series.column_direction);
  std::vector<double> along;
  for (const DicomSlice& slice : stack.series.slices)
    along.push_back(dot(slice.position_lps_mm, normal));
  AcquisitionSplit split = split_acquisitions(along, stack.keys);
  const bool usable = unit_of(stack.series.modality) && !stack.series.localizer &&
                      stack.series.other_values.empty();
  if (rules.acquisitions_together || !usable)
    split = {1, std::vector<std::size_t>(along.size()), ""};
  std::vector<DicomSeries> parts(split.parts, stack.series);
  std::vector<std::vector<AcquisitionKeys>> keys(split.parts);
  for (DicomSeries& part : parts) part.slices.clear();
  for (std::size_t i = 0; i < along.size(); ++i) {
    parts[split.part_of[i]].slices.push_back(stack.series.slices[i]);
    keys[split.part_of[i]].push_back(stack.keys[i]);
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    DicomSeries& part = parts[p];
    part.acquisition = p + 1;
    part.acquisitions = parts.size();
    part.acquisition_number = number_of(keys[p]);
    part.acquisitions_by = split.told_by;
    if (parts.size() > 1) {
      part.source_bytes = stack.series.source_bytes * part.slices.size() / along.size();
    }
    std::stable_sort(part.slices.begin(), part.slices.end(),
                     [&](const DicomSlice& a, const DicomSlice& b) {
                       return dot(a.position_lps_mm, normal) < dot(b.position_lps_mm, normal);
                     });
  }
  return parts;
}

/// The identifier of a series, or what stands for it where it has none or was joined.
std::string identity_of(const std::vector<const FileHeader*>& files) {
  const std::string& uid = files.front()->series_uid;
  const bool one = std::all_of(files.begin(), files.end(),
                               [&](const FileHeader* file) { return file->series_uid == uid; });
  if (one && !uid.empty()) return uid;
  std::string identity;  // of the instances, else their places
  for (const FileHeader* file : files) {
    for (const PictureHeader& picture : file->pictures) {
      const Vec3& at = picture.position_lps_mm;
      identity += fmt::format("{} {:.4f} {:.4f} {:.4f};", file->instance_uid, at[0], at[1], at[2]);
    }
  }
  return identity;
}

std::vector<std::string> members_of(const std::vector<const FileHeader*>& files,
                                    const Pseudonymizer& pseudonym) {
  std::set<std::string> members;
  for (const FileHeader* file : files) members.insert(pseudonym("series", file->series_uid));
  if (members.size() < 2) return {};
  return {members.begin(), members.end()};
}

}  // namespace

bool same_plane(const PictureHeader& a, const PictureHeader& b) {
  return a.rows == b.rows && a.columns == b.columns && a.localizer == b.localizer &&
         a.other_values == b.other_values &&
         std::abs(a.spacing_mm_yx[0] - b.spacing_mm_yx[0]) < 1e-4 &&
         std::abs(a.spacing_mm_yx[1] - b.spacing_mm_yx[1]) < 1e-4 &&
         close(a.row_direction, b.row_direction) && close(a.column_direction, b.column_direction);
}

void stack_up(std::vector<const FileHeader*> files, const Pseudonymizer& pseudonym,
              const SeriesRules& rules, DicomScan& scan) {
  std::sort(files.begin(), files.end(), [](auto* a, auto* b) { return before(*a, *b); });
  const std::size_t copies = leave_out_copies(files, scan);
  const SuvFactor suv = suv_of(files);
  const std::string series = pseudonym("series", identity_of(files));
  const auto members = members_of(files, pseudonym);
  std::size_t number = 0;
  for (Stack& stack : group_by_plane(files, pseudonym)) {
    DicomSeries& group = stack.series;
    group.series = series;
    group.joined = members;
    group.stack = number++;
    group.copies = copies;
    if (group.modality == Modality::pet) take_suv(files.front()->pet, suv, group);
    if (group.patient.empty()) group.patient = pseudonym("patient", group.series);
    for (DicomSeries& part : acquisitions_of(std::move(stack), rules))
      scan.series.push_back(std::move(part));
  }
}

}  // namespace headrace::imaging
