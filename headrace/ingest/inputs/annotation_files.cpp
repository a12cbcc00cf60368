#include "headrace/ingest/inputs/annotation_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/folder_walk.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/ingest/inputs/image_search.hpp"
#include "headrace/ingest/inputs/input_files.hpp"
#include "headrace/ingest/names/case_rules.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMask = "_mask";

std::string without_mask(const std::string& stem) {
  return stem.ends_with(kMask) && stem.size() > kMask.size()
             ? stem.substr(0, stem.size() - kMask.size())
             : stem;
}

std::string place_of(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

using Index = std::map<std::string, std::vector<std::size_t>>;

/// Images by the names that they have.
struct NameIndex {
  Index names, ids;

  explicit NameIndex(const std::vector<ImageNames>& images) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      ids[images[i].id].push_back(i);
      const fs::path file(images[i].file);
      const std::set<std::string> own{file.stem().string(), file.filename().string()};
      for (const auto& name : own) {
        if (!name.empty()) names[name].push_back(i);
      }
    }
  }

  std::vector<std::size_t> find(const std::string& stem) const {
    const std::string bare = without_mask(stem);
    for (const auto& name : {stem, bare}) {
      if (const auto found = names.find(name); found != names.end()) return found->second;
    }
    for (const auto& name : {stem, bare}) {
      if (const auto found = ids.find(plain_id(name)); found != ids.end()) return found->second;
    }
    if (!has_image_ending(bare)) return {};
    return find(fs::path(bare).stem().string());
  }
};

}  // namespace

AnnotationFiles::AnnotationFiles(const std::string& folder, const std::vector<ImageNames>& images)
    : folder_(folder), names_(images) {
  std::vector<std::string> subfolders;
  for (const auto& entry : list_folder(folder)) {
    const std::string name = entry.path().filename().string();
    const auto odd = why_not_read(entry);
    std::error_code ignored;
    if (name.starts_with(".")) continue;
    if (!odd && entry.is_directory(ignored)) {
      subfolders.push_back(entry.path().string());
      continue;
    }
    // One that can't be read is still an image's, which then has no labels that can be read.
    if (odd) odd_.emplace(entry.path().string(), *odd);
    (annotation_stem(name) ? files_ : others_).push_back(entry.path().string());
  }
  for (const auto& subfolder : subfolders) {
    try {
      walk_folder(subfolder, [&](const fs::directory_entry& entry) {
        const std::string path = entry.path().string();
        if (!annotation_stem(path)) return;
        odd_.emplace(path, "it lies in a folder below, which is not looked into");
        others_.push_back(path);
      });
    } catch (const Error&) {  // nothing in it is used, so that it can't be read is no matter
    }
  }
  std::sort(files_.begin(), files_.end());
  const NameIndex index(images);
  of_image_.resize(images.size());
  for (std::size_t f = 0; f < files_.size(); ++f) {
    images_.push_back(index.find(*annotation_stem(files_[f])));
    for (const std::size_t i : images_.back()) of_image_[i].push_back(f);
  }
}

std::string AnnotationFiles::of(std::size_t i) const {
  const std::vector<std::size_t>& found = of_image_[i];
  if (found.empty()) return "";
  const std::string& name =
      names_[i].file.empty() ? "image '" + names_[i].id + "'" : names_[i].file;
  if (found.size() > 1) {
    fail(ErrorCode::usage,
         "{}: has more than one annotation, {} and {}; keep one, or name it in a table", name,
         files_[found[0]], files_[found[1]]);
  }
  const auto& same = images_[found[0]];
  if (same.size() > 1) {
    const auto other = same[0] == i ? same[1] : same[0];
    fail(ErrorCode::usage,
         "{}: annotation {} fits image '{}' as well; name the annotations in a table", name,
         files_[found[0]], names_[other].id);
  }
  return files_[found[0]];
}

UnusedFiles AnnotationFiles::unused(const std::vector<std::string>& used) const {
  std::set<std::string> places;
  for (const auto& file : used) places.insert(place_of(file));
  UnusedFiles unused;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    if (places.contains(place_of(files_[f]))) continue;
    const auto odd = odd_.find(files_[f]);
    unused.push_back({files_[f], odd != odd_.end()    ? odd->second
                                 : images_[f].empty() ? "it fits no image"
                                                      : "its image has another annotation"});
  }
  for (const auto& file : others_) {
    if (places.contains(place_of(file))) continue;
    const auto odd = odd_.find(file);
    unused.push_back({file, odd != odd_.end()
                                ? odd->second
                                : "it is no mask (PNG, TIFF), GeoJSON or XML of ASAP"});
  }
  return unused;
}

std::string AnnotationFiles::nothing_fits() const {
  return fmt::format(
      "{}: holds no annotation that is named as an image ({}{}); an image x.svs has x.geojson, "
      "x.xml, x.png or x.tif, with _mask or .svs between",
      folder_,
      size() == 0 ? "it holds no file"
                  : fmt::format("{} is not", files_.empty() ? others_.front() : files_.front()),
      names_.empty() ? "" : fmt::format("; '{}' is an image", names_.front().id));
}

}  // namespace headrace::ingest
