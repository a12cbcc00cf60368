#include "learn/predict/watch/arrivals.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "headrace/core/text.hpp"
#include "headrace/imaging/slide/slide_formats.hpp"
#include "headrace/ingest/volume/channels.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

namespace headrace::predict {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kPartial{".part", ".partial", ".filepart", ".crdownload",
                                                   ".tmp"};

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().generic_string();
}

/// Files whose paths begin so, a range of the sorted list.
std::span<const ListedFile> beginning(const std::vector<ListedFile>& files,
                                      const std::string& prefix) {
  const auto first = std::lower_bound(
      files.begin(), files.end(), prefix,
      [](const ListedFile& file, const std::string& text) { return file.path < text; });
  const auto last = std::find_if(
      first, files.end(), [&](const ListedFile& file) { return !file.path.starts_with(prefix); });
  return {first, last};
}

class Sorter {
 public:
  Sorter(const std::vector<ListedFile>& files, const ArrivalRules& rules)
      : files_(files), rules_(rules) {
    for (const ListedFile& file : files) {
      if (is_partial_name(file.path))
        unfinished_.emplace(fs::path(file.path).replace_extension().generic_string(), &file);
    }
  }

  std::vector<Arrival> run() {
    take_dicom();
    std::map<std::string, std::vector<const ListedFile*>> groups;
    std::set<std::string> companions;
    for (const ListedFile& file : files_) {
      if (!is_free_image(file)) continue;
      const std::string name = group_of(file);
      groups[name].push_back(&file);
      for (const ListedFile& own : companions_of(file)) companions.insert(own.path);
    }
    for (const auto& [name, group] : groups) take_files(name, group, companions);
    std::sort(found_.begin(), found_.end(),
              [](const Arrival& a, const Arrival& b) { return a.name < b.name; });
    return std::move(found_);
  }

 private:
  void take_dicom() {
    Arrival stray;
    for (const ListedFile& file : files_) {
      if (fs::path(file.path).filename() == "DICOMDIR" || is_partial_name(file.path)) continue;
      const std::string folder = folder_of(file.path);
      if (lies_in_dicom(folder) || !rules_.is_dicom(file)) continue;
      if (folder.empty()) {
        stray.files.push_back(file);
      } else {
        dicom_.insert(joined_folder(folder));
      }
    }
    for (const std::string& folder : dicom_) {
      if (lies_in_dicom(folder_of(folder))) continue;
      Arrival one;
      one.name = folder;
      one.inputs = {folder};
      for (const ListedFile& file : beginning(files_, folder + "/")) add(one, file);
      finish(std::move(one));
    }
    if (stray.files.empty()) return;
    stray.name = stray.files.front().path;
    stray.without_folder = true;
    found_.push_back(std::move(stray));
  }

  std::string joined_folder(const std::string& folder) const {
    const std::string above = folder_of(folder);
    return rules_.channels > 1 && !above.empty() ? above : folder;
  }

  bool lies_in_dicom(std::string folder) const {
    for (; !folder.empty(); folder = folder_of(folder)) {
      if (dicom_.contains(folder)) return true;
    }
    return false;
  }

  bool is_free_image(const ListedFile& file) const {
    return !is_partial_name(file.path) && !lies_in_dicom(folder_of(file.path)) &&
           rules_.is_image(file) && !(folder_of(file.path).empty() && rules_.is_dicom(file));
  }

  /// The image that a file is a channel of, else itself.
  std::string group_of(const ListedFile& file) const {
    if (rules_.channels < 2) return file.path;
    const auto numbered = ingest::numbered_name(ingest::volume_stem(file.path), rules_.channels);
    return numbered ? (fs::path(folder_of(file.path)) / numbered->image).generic_string()
                    : file.path;
  }

  std::vector<ListedFile> companions_of(const ListedFile& file) const {
    const fs::path path(file.path);
    const std::string ending = lowered(path.extension().string());
    const std::string stem = fs::path(path).replace_extension().generic_string();
    const imaging::SlideFormat* slide = imaging::slide_format_of(file.path);
    const auto beside = slide != nullptr ? slide->beside : imaging::SlideBeside::nothing;
    const bool folder = beside == imaging::SlideBeside::folder,
               names = beside == imaging::SlideBeside::names,
               header = ending == ".mhd" || ending == ".nhdr";
    if (!folder && !names && !header) return {};
    std::vector<ListedFile> out;
    for (const ListedFile& own : beginning(files_, stem + (names ? "" : header ? "." : "/"))) {
      if (own.path == file.path || (header && rules_.is_image(own))) continue;
      if (folder || folder_of(own.path) == folder_of(file.path)) out.push_back(own);
    }
    return out;
  }

  void take_files(const std::string& name, const std::vector<const ListedFile*>& group,
                  const std::set<std::string>& companions) {
    Arrival one;
    one.name = name;
    for (const ListedFile* file : group) {
      if (companions.contains(file->path)) continue;
      one.inputs.push_back(file->path);
      add(one, *file);
      for (const ListedFile& own : companions_of(*file)) add(one, own);
    }
    if (!one.inputs.empty()) finish(std::move(one));
  }

  void add(Arrival& arrival, const ListedFile& file) const {
    arrival.files.push_back(file);
    if (is_partial_name(file.path)) arrival.waits_for = file.path;
    const auto unfinished = unfinished_.find(file.path);
    if (unfinished == unfinished_.end()) return;
    arrival.waits_for = unfinished->second->path;
    arrival.files.push_back(*unfinished->second);
  }

  /// Its files in order, each once: an unfinished one may lie in the folder too.
  void finish(Arrival arrival) {
    auto& files = arrival.files;
    std::sort(files.begin(), files.end(),
              [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
    files.erase(std::unique(files.begin(), files.end()), files.end());
    found_.push_back(std::move(arrival));
  }

  const std::vector<ListedFile>& files_;
  const ArrivalRules& rules_;
  std::map<std::string, const ListedFile*> unfinished_;  ///< by final path
  std::set<std::string> dicom_;                          ///< folders
  std::vector<Arrival> found_;
};

}  // namespace

bool is_partial_name(const std::string& path) {
  const std::string plain = lowered(path);
  return std::any_of(kPartial.begin(), kPartial.end(),
                     [&](std::string_view ending) { return plain.ends_with(ending); });
}

std::vector<Arrival> arrivals_in(const std::vector<ListedFile>& files, const ArrivalRules& rules) {
  return Sorter(files, rules).run();
}

}  // namespace headrace::predict
