#include "headrace/imaging/volume/text_header.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/input_path.hpp"
#include "headrace/core/text.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {

std::string trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return std::string(text);
}

std::string trimmed_lower(std::string_view text) { return lowered(trimmed(text)); }

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  std::string word;
  const auto take = [&] {
    if (word.empty()) return;
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    numbers.push_back(*end == '\0' ? value : std::nan(""));
    word.clear();
  };
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) || c == ',' || c == '(' || c == ')') {
      take();
    } else {
      word += c;
    }
  }
  take();
  return numbers;
}

const std::string* TextHeader::find(const std::string& key) const {
  const auto it = fields.find(key);
  return it == fields.end() ? nullptr : &it->second;
}

const std::string& TextHeader::at(const std::string& key) const {
  const std::string* value = find(key);
  if (value == nullptr) fail(ErrorCode::malformed, "{}: the header has no \"{}\".", path, key);
  return *value;
}

std::vector<double> TextHeader::numbers(const std::string& key, std::size_t count) const {
  const auto found = parse_numbers(at(key));
  bool good = found.size() == count;
  for (const double value : found) good = good && std::isfinite(value);
  if (!good) {
    fail(ErrorCode::malformed, "{}: \"{}\" is \"{}\", expected {} numbers.", path, key,
         at(key).substr(0, 100), count);
  }
  return found;
}

std::vector<std::int64_t> TextHeader::edges(const std::string& key, std::size_t count) const {
  constexpr double kMaxEdge = 65536;
  std::vector<std::int64_t> edges;
  for (const double edge : numbers(key, count)) {
    if (!(edge >= 1 && edge <= kMaxEdge && edge == std::floor(edge))) {
      fail(ErrorCode::malformed, "{}: \"{}\" is \"{}\", expected whole numbers from 1 to {}.", path,
           key, at(key).substr(0, 100), kMaxEdge);
    }
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  return edges;
}

std::string read_head_text(const std::string& path, std::size_t count) {
  const auto bytes = storage::open_input(path)->head(count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string beside(const std::string& header_path, const std::string& name) {
  const std::string plain = name.starts_with("./") ? name.substr(2) : name;
  const std::string path = (std::filesystem::path(header_path).parent_path() / plain).string();
  // "slice%03d.raw 1 20 1" is a pattern of MetaImage; "CT scan.raw" a name.
  const bool one = plain.find_first_of("/\\%") == std::string::npos && plain != "LIST" &&
                   plain != ".." && !plain.empty() &&
                   (plain.find(' ') == std::string::npos || input_kind(path) == InputKind::file);
  if (!one) {
    fail(ErrorCode::unsupported,
         "{}: the voxels lie in \"{}\", expected one file in the same folder.", header_path, name);
  }
  return path;
}

std::string data_file_of(const std::string& path) {
  const std::string ending = trimmed_lower(std::filesystem::path(path).extension().string());
  if (ending != ".mhd" && ending != ".nhdr") return {};
  std::istringstream text(read_head_text(path, kMaxTextHeaderBytes));
  for (std::string line; std::getline(text, line);) {
    const std::size_t at = line.find_first_of(":=");
    if (at == std::string::npos) continue;
    const std::string key = trimmed_lower(line.substr(0, at));
    if (key != "elementdatafile" && key != "data file" && key != "datafile") continue;
    const std::string name = trimmed(line.substr(at + 1));
    const bool plain = !name.empty() && name.find('/') == std::string::npos;
    return plain ? (std::filesystem::path(path).parent_path() / name).string() : std::string();
  }
  return {};
}

}  // namespace headrace::imaging
