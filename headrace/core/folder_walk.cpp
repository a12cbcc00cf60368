#include "headrace/core/folder_walk.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::directory_entry> entries_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::directory_entry> entries;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::end(it);
       it.increment(error)) {
    entries.push_back(*it);
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

[[noreturn]] void refuse_unread(const fs::path& folder, const std::error_code& error) {
  fail(ErrorCode::io, "{}: the folder can't be read ({})", folder.string(), error.message());
}

class Walk {
 public:
  Walk(const fs::path& root, const std::function<void(const fs::directory_entry&)>& visit,
       const std::function<bool(const fs::path&)>& enter)
      : root_(root), visit_(visit), enter_(enter) {}

  void into(const fs::path& folder) {
    std::error_code error;
    if (!seen_.insert(fs::canonical(folder, error)).second)
      return;  // a loop, or seen by another link
    std::vector<fs::directory_entry> entries = entries_of(folder, error);
    if (error) refuse_unread(root_, error);
    std::stable_partition(entries.begin(), entries.end(), [](const auto& entry) {
      std::error_code ignored;
      return !entry.is_symlink(ignored);
    });
    for (const auto& entry : entries) {
      std::error_code ignored;
      if (!entry.is_directory(ignored)) {
        visit_(entry);
      } else if (!enter_ || enter_(entry.path())) {
        into(entry.path());
      }
    }
  }

 private:
  const fs::path& root_;
  const std::function<void(const fs::directory_entry&)>& visit_;
  const std::function<bool(const fs::path&)>& enter_;
  std::set<fs::path> seen_;
};

}  // namespace

std::vector<fs::directory_entry> list_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries = entries_of(folder, error);
  if (error) refuse_unread(folder, error);
  return entries;
}

std::vector<fs::directory_entry> list_folder_if_there(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries = entries_of(folder, error);
  if (error) entries.clear();
  return entries;
}

void walk_folder(const fs::path& folder,
                 const std::function<void(const fs::directory_entry&)>& visit,
                 const std::function<bool(const fs::path&)>& enter) {
  Walk(folder, visit, enter).into(folder);
}

}  // namespace headrace
