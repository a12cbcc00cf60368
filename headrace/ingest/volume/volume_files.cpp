#include "headrace/ingest/volume/volume_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "headrace/core/error.hpp"
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

bool lies_below(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  const auto inside = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !inside.empty() && *inside.begin() != "..";
}

VolumeFiles volume_files(const std::string& input) {
  std::error_code error;
  const auto status = fs::status(input, error);
  if (!fs::exists(status)) fail(ErrorCode::not_found, "{}: there is no such file or folder", input);
  VolumeFiles found;
  if (!fs::is_directory(status)) {
    const bool volume = has_volume_ending(input) || imaging::is_volume_file(input);
    (volume ? found.volumes : found.others).push_back(input);
    return found;
  }
  for (auto it = fs::recursive_directory_iterator(input, error); !error && it != fs::end(it);
       it.increment(error)) {
    if (hidden(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file()) continue;
    const std::string path = it->path().string();
    (has_volume_ending(path) ? found.volumes : found.others).push_back(path);
  }
  if (error) fail(ErrorCode::io, "{}: the folder can't be read ({})", input, error.message());
  std::sort(found.volumes.begin(), found.volumes.end());
  std::sort(found.others.begin(), found.others.end());
  return found;
}

}  // namespace headrace::ingest
