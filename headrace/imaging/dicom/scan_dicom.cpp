#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/file_headers.hpp"
#include "headrace/imaging/dicom/slice_stack.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_under(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    const auto status = fs::status(input, error);
    if (!fs::exists(status)) fail(ErrorCode::not_found, "{}: no such file or folder.", input);
    if (!fs::is_directory(status)) {
      files.push_back(input);
      continue;
    }
    for (auto it = fs::recursive_directory_iterator(input, error); !error && it != fs::end(it);
         it.increment(error)) {
      if (it->is_regular_file()) files.push_back(it->path().string());
    }
    if (error) fail(ErrorCode::io, "{}: the folder can't be read ({}).", input, error.message());
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

struct Read {
  std::string path;
  bool dicom = false;
  FileHeader header;
  std::string problem;
};

Read read_one(const std::string& path) {
  Read read;
  read.path = path;
  read.dicom = has_dicom_start(path);
  if (!read.dicom) return read;
  try {
    read.header = read_file_header(path);
  } catch (const Error& error) {
    read.problem = error.what();
  }
  return read;
}

bool close(const Vec3& a, const Vec3& b) {
  constexpr double kSameDirection = 1e-3;
  for (int i = 0; i < 3; ++i) {
    if (std::abs(a[i] - b[i]) > kSameDirection) return false;
  }
  return true;
}

bool same_plane(const DicomSeries& group, const PictureHeader& picture) {
  return group.rows == picture.rows && group.columns == picture.columns &&
         group.localizer == picture.localizer &&
         std::abs(group.spacing_mm_yx[0] - picture.spacing_mm_yx[0]) < 1e-4 &&
         std::abs(group.spacing_mm_yx[1] - picture.spacing_mm_yx[1]) < 1e-4 &&
         close(group.row_direction, picture.row_direction) &&
         close(group.column_direction, picture.column_direction);
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
  group.phase = file.phase;
  group.rows = picture.rows;
  group.columns = picture.columns;
  group.spacing_mm_yx = picture.spacing_mm_yx;
  group.row_direction = picture.row_direction;
  group.column_direction = picture.column_direction;
  group.slice_thickness_mm = picture.thickness_mm;
  group.localizer = picture.localizer;
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

/// Splits the files of one SeriesInstanceUID by size, orientation and spacing, and orders each
/// stack.
std::vector<DicomSeries> stack_up(std::vector<const FileHeader*> files,
                                  const Pseudonymizer& pseudonym) {
  std::sort(files.begin(), files.end(), [](auto* a, auto* b) { return before(*a, *b); });
  std::vector<DicomSeries> groups;
  std::string identity;  // for series without an identifier: their instances', else their places
  for (const FileHeader* file : files) {
    std::set<std::size_t> touched;
    for (std::size_t i = 0; i < file->pictures.size(); ++i) {
      const PictureHeader& picture = file->pictures[i];
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&](const DicomSeries& g) { return same_plane(g, picture); });
      if (group == groups.end())
        group = groups.insert(groups.end(), start_group(*file, picture, pseudonym));
      group->slices.push_back({file->path, static_cast<int>(i), picture.position_lps_mm,
                               picture.slope, picture.intercept});
      touched.insert(static_cast<std::size_t>(group - groups.begin()));
      identity +=
          fmt::format("{} {:.4f} {:.4f} {:.4f};", file->instance_uid, picture.position_lps_mm[0],
                      picture.position_lps_mm[1], picture.position_lps_mm[2]);
    }
    for (const std::size_t i : touched) groups[i].source_bytes += file->size_bytes;
  }
  const SuvFactor suv = suv_of(files);
  const std::string uid = files.front()->series_uid;
  for (DicomSeries& group : groups) {
    group.series = pseudonym("series", uid.empty() ? identity : uid);
    if (group.modality == Modality::pet) take_suv(files.front()->pet, suv, group);
    if (group.patient.empty()) group.patient = pseudonym("patient", group.series);
    const Vec3 normal = cross(group.row_direction, group.column_direction);
    std::stable_sort(group.slices.begin(), group.slices.end(),
                     [&](const DicomSlice& a, const DicomSlice& b) {
                       return dot(a.position_lps_mm, normal) < dot(b.position_lps_mm, normal);
                     });
  }
  return groups;
}

DicomLabelFile label_file(const FileHeader& file, const Pseudonymizer& pseudonym) {
  DicomLabelFile label;
  label.path = file.path;
  label.object = file.object;
  label.instance = pseudonym("instance", file.instance_uid);
  label.patient = pseudonym("patient", file.patient_id.empty() ? file.study_uid : file.patient_id);
  label.frame_of_reference = pseudonym("frame of reference", file.frame_of_reference_uid);
  for (const std::string& uid : file.referenced_series_uids) {
    label.referenced_series.push_back(pseudonym("series", uid));
  }
  std::sort(label.referenced_series.begin(), label.referenced_series.end());
  return label;
}

void find_same_numbers(DicomScan& scan) {
  std::map<std::tuple<std::string, int>, const DicomSeries*> seen;
  for (const DicomSeries& series : scan.series) {
    if (!series.series_number || series.study.empty()) continue;
    if (series.modality != Modality::ct || series.localizer) continue;
    const auto [it, fresh] = seen.try_emplace({series.study, *series.series_number}, &series);
    if (fresh || it->second->series == series.series) continue;
    scan.problems.push_back(
        {fmt::format(
             "two series of one study have the same number {} (with {} and {}): series numbers "
             "can't tell them apart. Leave "
             "one out, correct its number, or read them from folders of their own.",
             *series.series_number, it->second->slices.front().path, series.slices.front().path),
         "",
         {it->second->series, series.series}});
  }
}

}  // namespace

DicomScan scan_dicom(const std::vector<std::string>& inputs, const Pseudonymizer& pseudonym,
                     int jobs) {
  const auto files = files_under(inputs);
  std::vector<Read> reads(files.size());
  ThreadPool pool(jobs);
  pool.parallel_for(
      files.size(), [&](std::size_t i) { reads[i] = read_one(files[i]); }, 4);

  DicomScan scan;
  std::map<std::string, std::vector<const FileHeader*>> by_series;
  for (const Read& read : reads) {
    if (!read.dicom) {
      ++scan.other_files;
    } else if (!read.problem.empty()) {
      scan.problems.push_back({read.problem, read.path, {}});
    } else if (read.header.object != DicomObject::other) {
      scan.labels.push_back(label_file(read.header, pseudonym));
    } else if (read.header.pictures.empty()) {
      ++scan.other_files;
    } else {
      const FileHeader& header = read.header;
      const std::string key = header.series_uid.empty()
                                  ? "folder " + fs::path(header.path).parent_path().string()
                                  : "series " + header.series_uid;
      by_series[key].push_back(&header);
    }
  }
  for (auto& [key, headers] : by_series) {
    for (DicomSeries& group : stack_up(std::move(headers), pseudonym))
      scan.series.push_back(std::move(group));
  }
  std::sort(scan.series.begin(), scan.series.end(), [](const DicomSeries& a, const DicomSeries& b) {
    return std::tie(a.patient, a.study, a.series_number, a.series, a.rows, a.columns,
                    a.row_direction) < std::tie(b.patient, b.study, b.series_number, b.series,
                                                b.rows, b.columns, b.row_direction);
  });
  find_same_numbers(scan);
  return scan;
}

}  // namespace headrace::imaging
