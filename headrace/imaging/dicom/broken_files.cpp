#include "headrace/imaging/dicom/broken_files.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// A name with each run of digits as one '#': that of all files that a program numbers.
std::string shape_of(const std::string& name) {
  std::string shape;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && shape.ends_with('#')) continue;
    shape += digit ? '#' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return shape;
}

/// For names that are hashes or identifiers: a length and an ending.
std::string length_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return fmt::format("{}{}", name.size(), dot == std::string::npos ? "" : name.substr(dot));
}

/// How the pictures of a folder are named.
struct Names {
  std::set<std::string> shapes, lengths;
};

bool named_alike(const Names& names, const PlainFile& file) {
  const std::string name = name_of(file.path), shape = shape_of(name);
  if (shape.find('#') == std::string::npos) return false;
  if (names.shapes.contains(shape)) return true;
  return file.content != PlainContent::other && names.lengths.contains(length_of(name));
}

std::string text_of(const std::string& folder, PlainContent content,
                    const std::vector<std::string>& names) {
  constexpr std::size_t kNamed = 3;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, names.size())));
  const char* what = content == PlainContent::empty   ? "empty (0 bytes)"
                     : content == PlainContent::zeros ? "nothing but zeros"
                                                      : "no DICOM";
  return fmt::format(
      "{}: {} {} {}, but {} named as the slices beside {}: {}{}. Copy {} again, or have {} left out "
      "({} skip).",
      folder.empty() ? "." : folder, names.size(), names.size() == 1 ? "file is" : "files are",
      what, names.size() == 1 ? "is" : "are", names.size() == 1 ? "it" : "them",
      fmt::join(first, ", "), names.size() > kNamed ? ", …" : "", names.size() == 1 ? "it" : "them",
      names.size() == 1 ? "it" : "them", Option{"on_error"});
}

}  // namespace

PlainContent plain_content(const std::string& path) {
  constexpr std::size_t kLooked = 4096;
  const auto head = storage::open_input(path)->head(kLooked);
  if (head.empty()) return PlainContent::empty;
  const bool zeros =
      std::all_of(head.begin(), head.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return zeros ? PlainContent::zeros : PlainContent::other;
}

std::vector<DicomProblem> lost_slices(const std::vector<PlainFile>& files,
                                      const std::vector<std::string>& pictures) {
  std::map<std::string, Names> folders;
  for (const std::string& path : pictures) {
    Names& names = folders[folder_of(path)];
    names.shapes.insert(shape_of(name_of(path)));
    names.lengths.insert(length_of(name_of(path)));
  }
  std::map<std::pair<std::string, PlainContent>, std::vector<std::string>> lost;
  for (const PlainFile& file : files) {
    const auto beside = folders.find(folder_of(file.path));
    if (beside == folders.end() || !named_alike(beside->second, file)) continue;
    lost[{beside->first, file.content}].push_back(file.path);
  }
  std::vector<DicomProblem> problems;
  for (const auto& [key, paths] : lost) {
    std::vector<std::string> names;
    for (const std::string& path : paths) names.push_back(name_of(path));
    DicomProblem problem{text_of(key.first, key.second, names), paths.front(), {}};
    problem.lost = true;
    problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace headrace::imaging
