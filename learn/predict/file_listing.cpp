#include "learn/predict/file_listing.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::predict {
namespace {

namespace fs = std::filesystem;

/// Adds a file; one that is gone since it was listed is none.
void add(const fs::directory_entry& entry, const fs::path& folder, std::vector<ListedFile>& files) {
  std::error_code error;
  if (!entry.is_regular_file(error) || error) return;
  ListedFile file;
  file.path = entry.path().lexically_relative(folder).generic_string();
  file.size_bytes = entry.file_size(error);
  if (error) return;
  file.modified = entry.last_write_time(error).time_since_epoch().count();
  if (!error) files.push_back(std::move(file));
}

}  // namespace

std::vector<ListedFile> list_files(const std::string& folder) {
  std::vector<ListedFile> files;
  std::error_code error;
  const auto denied = fs::directory_options::skip_permission_denied;
  for (auto it = fs::recursive_directory_iterator(folder, denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename().string().starts_with('.')) {
      it.disable_recursion_pending();
      continue;
    }
    add(*it, folder, files);
  }
  if (error) fail(ErrorCode::io, "{}: the folder can't be read ({})", folder, error.message());
  std::sort(files.begin(), files.end(),
            [](const ListedFile& a, const ListedFile& b) { return a.path < b.path; });
  return files;
}

std::string listing_hash(const std::vector<ListedFile>& files) {
  Sha256 sha;
  for (const ListedFile& file : files)
    sha.update(fmt::format("{} {} {}\n", file.size_bytes, file.modified, file.path));
  return sha.hex();
}

}  // namespace headrace::predict
