#include "headrace/ingest/volume/structure_sets.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {
namespace {

using Files = std::vector<const ClassesOfFile*>;

std::string paths_of(const Files& files) {
  std::vector<std::string> paths;
  for (const ClassesOfFile* file : files) paths.push_back(file->path);
  return fmt::format("{}", fmt::join(paths, " and "));
}

/// The one that is newer than all others by the first date that all of them have; null where none
/// is. A moment that begins as another, which states less, is not newer.
const ClassesOfFile* newest_of(const Files& files) {
  for (std::size_t k = 0; k < 3; ++k) {
    const bool all = std::all_of(files.begin(), files.end(), [&](const ClassesOfFile* file) {
      return file->written.size() > k && !file->written[k].empty();
    });
    if (!all) continue;
    for (const ClassesOfFile* one : files) {
      const bool newer = std::all_of(files.begin(), files.end(), [&](const ClassesOfFile* other) {
        const auto &mine = one->written[k], &theirs = other->written[k];
        return other == one || (mine > theirs && !mine.starts_with(theirs));
      });
      if (newer) return one;
    }
    return nullptr;  // another date would not say which content is newer
  }
  return nullptr;
}

[[noreturn]] void refuse(const Files& files, const std::string& name) {
  fail(ErrorCode::usage,
       "{} all have the class '{}' of this image, and one may replace another: {} newest takes the "
       "newest, all takes them together; labels of several readers become label sets (headrace "
       "ingest labels, {})",
       paths_of(files), name, Option{"structure_set"}, Option{"set"});
}

}  // namespace

std::size_t settle_structure_sets(StructureSets choice, const std::vector<ClassesOfFile>& files,
                                  const std::vector<std::string>& names, VolumeCase& volume) {
  if (choice == StructureSets::all || volume.labels_stated) return 0;
  std::map<int, Files> by_class;
  for (const ClassesOfFile& file : files) {
    for (const int label : std::set<int>(file.classes.begin(), file.classes.end()))
      by_class[label].push_back(&file);
  }
  std::set<std::string> replaced;
  for (const auto& [label, several] : by_class) {
    if (several.size() < 2) continue;
    const std::string& name = names[static_cast<std::size_t>(label)];
    if (choice == StructureSets::refuse) refuse(several, name);
    const ClassesOfFile* newest = newest_of(several);
    if (newest == nullptr) {
      fail(ErrorCode::usage,
           "{} all have the class '{}' of this image, and their dates do not say which is the "
           "newest ({} newest); leave one out, or name those to take in a table's column 'labels'",
           paths_of(several), name, Option{"structure_set"});
    }
    for (const ClassesOfFile* file : several) {
      if (file == newest) continue;
      volume.replaced.emplace(file->path, label);
      replaced.insert(file->path);
    }
  }
  return replaced.size();
}

}  // namespace headrace::ingest
