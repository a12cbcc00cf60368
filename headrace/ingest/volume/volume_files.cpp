#include "headrace/ingest/volume/volume_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::array kEndings{".nii.gz", ".nii", ".nrrd", ".nhdr", ".mha", ".mhd"};

/// Length of the ending of volumes; 0 when there is none.
std::size_t ending_of(const std::string& name) {
  const std::string plain = lowered(name);
  for (const std::string ending : kEndings) {
    if (plain.size() > ending.size() && plain.ends_with(ending)) return ending.size();
  }
  return 0;
}

/// Whether a file is a header or its voxels, with the other beside it.
bool is_of_pair(const fs::path& path) {
  const std::string ending = lowered(path.extension().string());
  if (ending != ".hdr" && ending != ".img") return false;
  const bool upper = path.extension().string() != ending;
  const char* const other = ending == ".hdr" ? (upper ? ".IMG" : ".img") : upper ? ".HDR" : ".hdr";
  return input_kind(fs::path(path).replace_extension(other).string()) == InputKind::file;
}

bool hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

}  // namespace

bool has_volume_ending(const std::string& path) {
  return ending_of(fs::path(path).filename().string()) > 0;
}

std::string volume_stem(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const std::size_t ending = ending_of(name);
  return ending > 0 ? name.substr(0, name.size() - ending) : fs::path(name).stem().string();
}

std::string parent_name(const std::string& path) {
  return fs::absolute(path).lexically_normal().parent_path().filename().string();
}

std::vector<std::string> odd_volumes(const VolumeFiles& files) {
  std::vector<std::string> named;
  for (const UnusedFile& odd : files.odd) {
    if (has_volume_ending(odd.path)) named.push_back(odd.path);
  }
  std::sort(named.begin(), named.end());
  return named;
}

VolumeFiles volume_files(const std::string& input) {
  std::error_code error;
  const auto status = fs::status(input, error);
  if (input_kind(input) == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(input));
  VolumeFiles found;
  if (!fs::is_directory(status)) {
    const bool volume = has_volume_ending(input) || imaging::is_volume_file(input);
    (volume ? found.volumes : found.others).push_back(input);
    return found;
  }
  walk_folder(
      input,
      [&](const fs::directory_entry& entry) {
        if (hidden(entry.path())) return;
        const std::string path = entry.path().string();
        if (is_of_pair(entry.path())) {
          found.odd.push_back({path,
                               "half of a NIfTI or Analyze pair (.hdr and .img); convert it "
                               "to .nii.gz"});
        } else if (const auto why = why_not_read(entry)) {
          found.odd.push_back({path, *why});
        } else {
          (has_volume_ending(path) ? found.volumes : found.others).push_back(path);
        }
      },
      [](const fs::path& folder) { return !hidden(folder); });
  std::sort(found.volumes.begin(), found.volumes.end());
  std::sort(found.others.begin(), found.others.end());
  return found;
}

}  // namespace headrace::ingest
