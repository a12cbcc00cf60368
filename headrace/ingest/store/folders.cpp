#include "headrace/ingest/store/folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "headrace/storage/place.hpp"

namespace headrace::ingest {

void remove_empty_folders(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(storage::Place::parse(root).path())) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  // Deepest first; remove() does not remove a folder that holds something.
  std::sort(folders.rbegin(), folders.rend());
  std::error_code ignored;
  for (const auto& folder : folders) fs::remove(folder, ignored);
}

}  // namespace headrace::ingest
