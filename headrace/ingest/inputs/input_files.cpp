#include "headrace/ingest/inputs/input_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/object_place.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kAnnotationEndings{
    ".png", ".tif", ".tiff", ".xml", ".geojson", ".json", ".geojson.gz", ".json.gz"};

/// How many parts two paths have in common at their ends.
std::size_t equal_parts(const fs::path& a, const fs::path& b) {
  const std::vector<fs::path> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::size_t count = 0;
  while (count < std::min(x.size(), y.size()) &&
         x[x.size() - 1 - count] == y[y.size() - 1 - count]) {
    ++count;
  }
  return count;
}

std::string url_below(const std::string& url, const std::string& name) {
  const storage::Place root =
      storage::Place::parse(url.ends_with('/') ? url.substr(0, url.size() - 1) : url);
  return storage::object_at(root, name).describe();
}

}  // namespace

std::optional<std::string> annotation_stem(const std::string& file) {
  std::string name = fs::path(file).filename().string();
  const std::string plain = lowered(name);
  for (const std::string_view ending : kAnnotationEndings) {
    if (!plain.ends_with(ending) || plain.size() == ending.size()) continue;
    name.resize(name.size() - ending.size());
    return name;
  }
  return std::nullopt;
}

std::string panda_table_in(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1) return "";
  const fs::path table = fs::path(inputs[0]) / "train.csv";
  return input_kind(table) == InputKind::file &&
                 input_kind(fs::path(inputs[0]) / "train_images") == InputKind::folder
             ? table.string()
             : "";
}

FileFinder::FileFinder(const std::vector<std::string>& inputs, const std::string& table,
                       bool with_folders)
    : with_folders_(with_folders) {
  const fs::path folder = fs::path(table).parent_path();
  folders_.push_back(folder.empty() ? "." : folder.string());
  for (const auto& input : inputs) {
    if (storage::is_remote(input)) {
      (has_image_ending(input) ? files_ : urls_).push_back(input);
      continue;
    }
    const InputKind kind = input_kind(input);
    if (kind == InputKind::neither) fail(ErrorCode::not_found, "{}", no_input(input));
    (kind == InputKind::folder ? folders_ : files_).push_back(input);
  }
}

bool FileFinder::there(const std::string& path) const {
  const InputKind kind = input_kind(path);
  return kind == InputKind::file || (with_folders_ && kind == InputKind::folder);
}

std::vector<std::string> FileFinder::fitting(const std::string& name) const {
  std::vector<std::string> found;
  std::set<std::string> known;  // one file may be reached from the table's folder and from an input
  const auto take = [&](const std::string& path) {
    std::error_code error;
    const std::string file = fs::weakly_canonical(path, error).string();
    if (known.insert(error ? path : file).second) found.push_back(path);
  };
  if (storage::is_remote(name)) return {name};
  if (fs::path(name).is_absolute()) {
    if (there(name)) take(name);
    return found;
  }
  for (const auto& folder : folders_) {
    const std::string path = (fs::path(folder) / name).string();
    if (there(path)) take(path);
  }
  if (!found.empty()) return found;
  std::size_t most = 0;
  const auto equal_to = [&](const std::string& file) {
    const bool url = storage::is_remote(file);
    return equal_parts(url ? storage::key_in(storage::Place::parse(file), file) : file, name);
  };
  for (const auto& file : files_) most = std::max(most, equal_to(file));
  for (const auto& file : files_) {
    if (most > 0 && equal_to(file) == most) take(file);
  }
  if (!found.empty()) return found;
  for (const auto& url : urls_) found.push_back(url_below(url, name));
  return found;
}

std::string FileFinder::find(const std::string& name, const std::string& column,
                             const std::string& where) const {
  if (name.empty()) fail(ErrorCode::malformed, "{}: column '{}' is empty", where, column);
  const auto found = fitting(name);
  if (found.size() > 1) {
    fail(ErrorCode::usage, "{}: {} '{}' may be {} or {}; name its folders, too, or its whole path",
         where, column, name, found[0], found[1]);
  }
  if (found.empty()) {
    fail(ErrorCode::not_found, "{}: {} '{}' is not there (looked below {}{})", where, column, name,
         fmt::join(folders_, ", "), files_.empty() ? "" : " and among the input files");
  }
  return found.front();
}

std::string FileFinder::find_annotation(const std::string& name, const std::string& annotations,
                                        const std::string& where, const std::string& column) const {
  const fs::path path = fs::path(annotations) / name;
  if (!annotations.empty() && input_kind(path) == InputKind::file) return path.string();
  return find(name, column, where);
}

std::string FileFinder::find_panda(const std::string& folder, const std::string& id,
                                   const std::string& suffix, const std::string& where) const {
  const std::string name = folder + "/" + id + suffix + ".tiff";
  const auto found = fitting(name);
  if (found.size() != 1 && !where.empty()) return find(name, "image_id", where);
  return found.empty() ? "" : found.front();
}

}  // namespace headrace::ingest
