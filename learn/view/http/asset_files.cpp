#include "learn/view/http/asset_files.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "headrace/core/folder_walk.hpp"
#include "headrace/core/read_file.hpp"
#include "headrace/core/text.hpp"

namespace headrace::view {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kTypes{
    {{".html", "text/html; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".mjs", "text/javascript; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".json", "application/json"},
     {".wasm", "application/wasm"},
     {".svg", "image/svg+xml"},
     {".png", "image/png"},
     {".jpg", "image/jpeg"},
     {".ico", "image/x-icon"},
     {".woff2", "font/woff2"},
     {".woff", "font/woff"},
     {".txt", "text/plain; charset=utf-8"},
     {".md", "text/plain; charset=utf-8"}}};

std::string type_of(const fs::path& file) {
  const std::string ending = lowered(file.extension().string());
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& type) { return type.first == ending; });
  return std::string(found == kTypes.end() ? "application/octet-stream" : found->second);
}

}  // namespace

AssetFiles::AssetFiles(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  walk_folder(folder, [&](const fs::directory_entry& entry) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (hidden || !entry.is_regular_file()) return;
    files_[entry.path().lexically_relative(folder).generic_string()] = entry.path();
  });
}

HttpResponse AssetFiles::get(const std::string& name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) return error_response(404, "There is no such file.");
  return {200, type_of(found->second), bytes_of(read_file(found->second)), {}};
}

}  // namespace headrace::view
