#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::predict {

/// A file of a folder as the file system lists it.
struct ListedFile {
  std::string path;  ///< below the folder, with '/' between the names
  std::uint64_t size_bytes = 0;
  std::int64_t modified = 0;  ///< time of the last write, in ticks of the file clock
  bool operator==(const ListedFile&) const = default;
};

/// The regular files below a folder, sorted by path. Hidden files and folders are left out, and so
/// is what may not be read; linked folders are not followed. Nothing is opened. Errors: io (the
/// folder can't be listed).
std::vector<ListedFile> list_files(const std::string& folder);

/// SHA-256 of paths, sizes and times: another one where a file was added, removed or written to.
std::string listing_hash(const std::vector<ListedFile>& files);

}  // namespace headrace::predict
