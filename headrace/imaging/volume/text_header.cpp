#include "headrace/imaging/volume/text_header.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/text.hpp"
#include "headrace/imaging/whole_file.hpp"

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

std::string read_head_text(const std::string& path, std::size_t count) {
  const auto bytes = FileBytes(path).head(count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string beside(const std::string& header_path, const std::string& name) {
  if (name.find_first_of("/\\% ") != std::string::npos || name == "LIST" || name == ".." ||
      name.empty()) {
    fail(ErrorCode::unsupported,
         "{}: the voxels lie in \"{}\", expected one file in the same folder.", header_path, name);
  }
  return (std::filesystem::path(header_path).parent_path() / name).string();
}

}  // namespace headrace::imaging
