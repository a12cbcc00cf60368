#include "learn/predict/watch/watched_folder.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/dicom/dicom_series.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/volume/volume_files.hpp"
#include "learn/predict/full_path.hpp"

namespace headrace::predict {
namespace {

namespace fs = std::filesystem;

/// Whether a scan takes a file for DICOM, also for one that it can't read. Nothing that follows
/// from the key is kept.
bool scans_as_dicom(const std::string& path) {
  static const imaging::Pseudonymizer unused("0123456789abcdef");
  try {
    return imaging::scan_dicom({path}, unused, 1).other_files == 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

WatchedFolder::WatchedFolder(const std::string& folder, const TrainedRun& run)
    : folder_(full_path(folder)), volumes_(run.config.volumes) {
  if (!fs::is_directory(folder)) fail(ErrorCode::not_found, "{}: there is no such folder", folder);
  rules_.channels = volumes_ ? std::max<std::size_t>(1, run.preprocessing->channels.size()) : 1;
  rules_.is_image = [this](const ListedFile& file) {
    return volumes_ ? ingest::has_volume_ending(file.path) : slides_.contains(file.path);
  };
  rules_.is_dicom = [this](const ListedFile& file) { return is_dicom(file); };
}

std::vector<Arrival> WatchedFolder::look() {
  const auto files = list_files(folder_);
  if (!volumes_) find_slides(files);
  auto arrivals = arrivals_in(files, rules_);
  std::erase_if(probes_, [&](const auto& probe) {
    return !std::binary_search(
        files.begin(), files.end(), probe.second.file,
        [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
  });
  return arrivals;
}

/// By the rule of ingest, which lists the folder once more: only where names came or went.
void WatchedFolder::find_slides(const std::vector<ListedFile>& files) {
  std::set<std::string> listed;
  for (const ListedFile& file : files) listed.insert(file.path);
  if (listed == listed_) return;
  std::set<std::string> slides;
  ingest::BadInputs missing(ingest::OnError::skip);
  try {
    for (const std::string& path : ingest::image_files({folder_}, "", missing))
      slides.insert(fs::path(path).lexically_relative(folder_).generic_string());
  } catch (const fs::filesystem_error& error) {
    fail(ErrorCode::io, "{}: the folder can't be read ({})", folder_, error.code().message());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;  // no slides yet
  }
  slides_ = std::move(slides);
  listed_ = std::move(listed);
}

bool WatchedFolder::is_dicom(const ListedFile& file) {
  const std::string ending = lowered(fs::path(file.path).extension().string());
  if (ending == ".dcm") return true;
  if (!volumes_ || ingest::has_volume_ending(file.path)) return false;
  Probe& probe = probes_[file.path];
  if (!(probe.file == file)) probe = {file, scans_as_dicom(path_of(file.path))};
  return probe.dicom;
}

}  // namespace headrace::predict
