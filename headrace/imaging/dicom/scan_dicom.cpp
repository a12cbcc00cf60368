#include <algorithm>
#include <filesystem>
#include <tuple>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/dicom/broken_files.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/imaging/dicom/file_headers.hpp"
#include "headrace/imaging/dicom/join_series.hpp"
#include "headrace/imaging/dicom/sort_series.hpp"
#include "headrace/imaging/dicom/stack_up.hpp"
#include "headrace/imaging/file_kind.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

/// unused: what is neither a file nor a folder.
std::vector<std::string> files_under(const std::vector<std::string>& inputs,
                                     std::vector<DicomUnused>& unused) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    const auto status = fs::status(input, error);
    if (input_kind(input) == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(input));
    if (!fs::is_directory(status)) {
      files.push_back(input);
      continue;
    }
    walk_folder(input, [&](const fs::directory_entry& entry) {
      std::error_code ignored;
      if (const auto why = why_not_read(entry)) {
        unused.push_back({entry.path().string(), *why});
      } else if (entry.is_regular_file(ignored)) {
        files.push_back(entry.path().string());
      }
    });
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

struct Read {
  std::string path;
  bool dicom = false;
  PlainContent content = PlainContent::other;  ///< of a file that is not DICOM
  FileHeader header;
  std::string problem;
  ErrorCode code = ErrorCode::malformed;  ///< of the problem
};

Read read_one(const std::string& path) {
  Read read;
  read.path = path;
  read.dicom = looks_like_dicom(path);
  if (!read.dicom) {
    read.content = plain_content(path);
    return read;
  }
  try {
    read.header = read_file_header(path);
  } catch (const Error& error) {
    read.problem = error.what();
    read.code = error.code();
  }
  return read;
}

const char* why_unused(const Read& read) {
  if (read.dicom) return "DICOM, but no picture with a place in space";
  if (read.content == PlainContent::empty) return "empty (0 bytes)";
  return read.content == PlainContent::zeros ? "nothing but zeros"
                                             : "neither DICOM nor a volume by its ending";
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
  for (const std::string& uid : file.referenced_instance_uids)
    label.referenced_instances.push_back(pseudonym("instance", uid));
  std::sort(label.referenced_instances.begin(), label.referenced_instances.end());
  return label;
}

}  // namespace

DicomScan scan_dicom(const std::vector<std::string>& inputs, const Pseudonymizer& pseudonym,
                     int jobs, const SeriesRules& rules) {
  DicomScan scan;
  const auto files = files_under(inputs, scan.unused);
  std::vector<Read> reads(files.size());
  ThreadPool pool(jobs);
  pool.parallel_for(
      files.size(), [&](std::size_t i) { reads[i] = read_one(files[i]); }, 4);

  std::vector<std::string> pictures;
  std::vector<const FileHeader*> with_place, without_place;
  std::vector<PlainFile> plain;
  for (const Read& read : reads) {
    if (read.dicom && !read.problem.empty()) {
      scan.problems.push_back({read.problem, read.path, {}, false, read.code});
    } else if (read.dicom && read.header.object != DicomObject::other) {
      scan.labels.push_back(label_file(read.header, pseudonym));
    } else if (read.dicom && !read.header.pictures.empty()) {
      pictures.push_back(read.path);
      with_place.push_back(&read.header);
    } else {
      if (read.dicom) without_place.push_back(&read.header);
      if (!read.dicom) plain.push_back({read.path, read.content});
      ++scan.other_files;
      scan.unused.push_back({read.path, why_unused(read)});
    }
  }
  for (DicomProblem& problem : lost_slices(plain, pictures))
    scan.problems.push_back(std::move(problem));
  SeriesFiles by_series = sort_series(with_place, pseudonym, scan);
  for (DicomProblem& problem : slices_without_place(without_place, by_series, pseudonym))
    scan.problems.push_back(std::move(problem));
  const std::vector<SplitSeries> split = find_split_series(by_series);
  if (rules.join) join_series(split, by_series);
  for (auto& [key, headers] : by_series) stack_up(std::move(headers), pseudonym, rules, scan);
  std::sort(scan.series.begin(), scan.series.end(), [](const DicomSeries& a, const DicomSeries& b) {
    return std::tie(a.patient, a.study, a.series_number, a.series, a.rows, a.columns,
                    a.row_direction, a.acquisition) < std::tie(b.patient, b.study, b.series_number,
                                                               b.series, b.rows, b.columns,
                                                               b.row_direction, b.acquisition);
  });
  std::sort(scan.unused.begin(), scan.unused.end(),
            [](const DicomUnused& a, const DicomUnused& b) { return a.path < b.path; });
  find_same_numbers(rules.join ? std::vector<SplitSeries>() : split, pseudonym, scan);
  return scan;
}

}  // namespace headrace::imaging
