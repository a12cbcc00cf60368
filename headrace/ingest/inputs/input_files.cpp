#include "headrace/ingest/inputs/input_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"

namespace headrace::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::array kEndings{".svs", ".tif", ".tiff", ".ndpi",    ".mrxs", ".scn",
                              ".bif", ".vms", ".vmu",  ".svslide", ".zvi",  ".czi",
                              ".dcm", ".png", ".jpg",  ".jpeg"};

constexpr std::array<std::string_view, 7> kAnnotationEndings{
    ".png", ".tif", ".tiff", ".geojson", ".json", ".geojson.gz", ".json.gz"};

bool has_image_ending(const fs::path& path) {
  const std::string ending = lowered(path.extension().string());
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool is_below(const fs::path& path, const std::string& folder) {
  if (folder.empty()) return false;
  const auto inside = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

std::vector<std::string> image_files(const std::vector<std::string>& inputs,
                                     const std::string& annotations, BadInputs& bad) {
  std::set<std::string> found;
  for (const auto& input : inputs) {
    if (fs::is_regular_file(input)) {
      found.insert(input);
      continue;
    }
    if (!fs::is_directory(input)) {
      bad.add(
          {input, ErrorCode::not_found, fmt::format("{}: there is no such file or folder", input)});
      continue;
    }
    std::size_t here = 0;
    for (const auto& entry : fs::recursive_directory_iterator(input)) {
      if (!entry.is_regular_file() || !has_image_ending(entry.path())) continue;
      if (entry.path().filename().string().starts_with(".") || is_below(entry.path(), annotations))
        continue;
      found.insert(entry.path().string());
      ++here;
    }
    if (here == 0) fail(ErrorCode::usage, "{}: no slides or images in this folder", input);
  }
  return {found.begin(), found.end()};
}

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

std::string annotation_by_stem(const std::string& folder, const std::string& image) {
  const std::string stem = fs::path(image).stem().string();
  std::vector<std::string> found;
  for (const auto& name : {stem, stem + "_mask"}) {
    for (const std::string_view ending : kAnnotationEndings) {
      const fs::path path = fs::path(folder) / (name + std::string(ending));
      if (fs::is_regular_file(path)) found.push_back(path.string());
    }
  }
  if (found.size() > 1) {
    fail(ErrorCode::usage,
         "{}: has more than one annotation, {} and {}; keep one, or name it in a table", image,
         found[0], found[1]);
  }
  return found.empty() ? "" : found[0];
}

std::string panda_table_in(const std::vector<std::string>& inputs) {
  if (inputs.size() != 1) return "";
  const fs::path table = fs::path(inputs[0]) / "train.csv";
  return fs::is_regular_file(table) && fs::is_directory(fs::path(inputs[0]) / "train_images")
             ? table.string()
             : "";
}

FileFinder::FileFinder(const std::vector<std::string>& inputs, const std::string& table,
                       bool with_folders)
    : with_folders_(with_folders) {
  const fs::path folder = fs::path(table).parent_path();
  folders_.push_back(folder.empty() ? "." : folder.string());
  for (const auto& input : inputs) {
    if (fs::is_directory(input)) {
      folders_.push_back(input);
    } else if (fs::is_regular_file(input)) {
      files_.push_back(input);
    } else {
      fail(ErrorCode::not_found, "{}: there is no such file or folder", input);
    }
  }
}

bool FileFinder::there(const std::string& path) const {
  return fs::is_regular_file(path) || (with_folders_ && fs::is_directory(path));
}

std::string FileFinder::try_find(const std::string& name) const {
  if (fs::path(name).is_absolute()) return there(name) ? name : "";
  for (const auto& folder : folders_) {
    const std::string path = (fs::path(folder) / name).string();
    if (there(path)) return path;
  }
  for (const auto& file : files_) {
    if (fs::path(file).filename() == fs::path(name).filename()) return file;
  }
  return "";
}

std::string FileFinder::find(const std::string& name, const std::string& column,
                             const std::string& where) const {
  if (name.empty()) fail(ErrorCode::malformed, "{}: column '{}' is empty", where, column);
  const std::string found = try_find(name);
  if (found.empty()) {
    fail(ErrorCode::not_found, "{}: {} '{}' is not there (looked below {}{})", where, column, name,
         fmt::join(folders_, ", "), files_.empty() ? "" : " and among the input files");
  }
  return found;
}

std::string FileFinder::find_annotation(const std::string& name, const std::string& annotations,
                                        const std::string& where, const std::string& column) const {
  const fs::path path = fs::path(annotations) / name;
  if (!annotations.empty() && fs::is_regular_file(path)) return path.string();
  return find(name, column, where);
}

std::string FileFinder::find_panda(const std::string& folder, const std::string& id,
                                   const std::string& suffix, const std::string& where) const {
  const std::string name = folder + "/" + id + suffix + ".tiff";
  const std::string found = try_find(name);
  if (found.empty() && !where.empty()) return find(name, "image_id", where);
  return found;
}

}  // namespace headrace::ingest
