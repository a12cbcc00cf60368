#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "learn/view/http/http_message.hpp"

namespace headrace::view {

/// The files of a folder that a browser may load: those that were there at the start, by name, so
/// that no request can name another one. Safe from any thread.
class AssetFiles {
 public:
  /// A folder that is not there has no files. Hidden files are left out.
  explicit AssetFiles(const std::filesystem::path& folder);

  bool empty() const noexcept { return files_.empty(); }
  /// name: below the folder, with slashes. 404 for any other.
  HttpResponse get(const std::string& name) const;

 private:
  std::map<std::string, std::filesystem::path> files_;
};

}  // namespace headrace::view
