#include "headrace/ingest/volume/number_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "headrace/ingest/names/case_rules.hpp"
#include "headrace/ingest/volume/volume_files.hpp"

namespace headrace::ingest {
namespace {

std::string name_of(const VolumeCase& volume) {
  return volume.id.empty() ? plain_id(volume_stem(volume.file)) : volume.id;
}

}  // namespace

void name_by_folders(std::vector<VolumeCase>& cases) {
  std::map<std::string, std::vector<VolumeCase*>> by_name;
  std::set<std::string> taken;
  for (VolumeCase& volume : cases) {
    if (volume.id.empty() && !volume.series) by_name[name_of(volume)].push_back(&volume);
    if (!volume.id.empty()) taken.insert(volume.id);
  }
  std::vector<VolumeCase*> equal;
  std::map<std::string, int> in_folder;
  for (const auto& [name, several] : by_name) {
    if (several.size() == 1) {
      taken.insert(name);
      continue;
    }
    for (VolumeCase* volume : several) {
      equal.push_back(volume);
      ++in_folder[parent_name(volume->file)];
    }
  }
  const bool alone = std::all_of(in_folder.begin(), in_folder.end(),
                                 [](const auto& folder) { return folder.second == 1; });
  std::vector<std::string> names;
  for (const VolumeCase* volume : equal) {
    const std::string folder = plain_id(parent_name(volume->file));
    names.push_back(alone ? folder : folder + "_" + name_of(*volume));
    if (folder.empty() || !taken.insert(names.back()).second) return;
  }
  for (std::size_t i = 0; i < equal.size(); ++i) equal[i]->id = names[i];
}

std::vector<std::string> number_images(std::vector<VolumeCase>& cases) {
  std::vector<VolumeCase*> ordered;
  for (VolumeCase& volume : cases) {
    if (!volume.series && !volume.id_stated) ordered.push_back(&volume);
  }
  std::sort(ordered.begin(), ordered.end(), [](const VolumeCase* a, const VolumeCase* b) {
    return std::tuple(name_of(*a), a->file) < std::tuple(name_of(*b), b->file);
  });
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    VolumeCase& volume = *ordered[i];
    const std::string number = fmt::format("image-{:04}", i + 1);
    if (volume.case_id.empty() || volume.case_id == volume.id) volume.case_id = number;
    volume.id = number;
    sentences.push_back(fmt::format("{} is {}.", number, volume.file));
  }
  return sentences;
}

}  // namespace headrace::ingest
