#include "headrace/ingest/store/stored_keys.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/ingest/names/case_rules.hpp"

namespace headrace::ingest {
namespace {

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= key.size();) {
    const std::size_t end = std::min(key.find('/', at), key.size());
    parts.push_back(key.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The stem of a name with this ending; empty for others.
std::string stem(const std::string& name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : "";
}

std::string json_stem(const std::string& name) { return stem(name, ".json"); }

bool is_name(const std::string& text) {
  return !text.empty() && plain_id(text) == text && text.size() <= kLongestId + 64;
}

}  // namespace

std::string part_folder(const std::string& image, const std::string& name) {
  return image + "/" + name;
}

StoredKey stored_key(const std::string& key) {
  using Kind = StoredKey::Kind;
  const auto parts = parts_of(key);
  StoredKey found;
  if (parts.size() == 2 && parts[0] == "versions" &&
      (is_name(json_stem(parts[1])) || is_name(stem(parts[1], ".index")))) {
    found.kind = Kind::version;
    return found;
  }
  if (parts.size() == 2 && parts[0] == "sources" && is_name(json_stem(parts[1])))
    return {Kind::memory, json_stem(parts[1]), ""};
  constexpr std::array kFolders{"images", "index", "histograms", "manifests"};
  if (parts.size() < 3 || std::find(kFolders.begin(), kFolders.end(), parts[0]) == kFolders.end() ||
      !is_name(parts[1]))
    return found;
  found = {Kind::object, parts[1], part_folder(parts[1], cohort::kPixelsPart)};
  if (parts[0] == "manifests") {
    if (parts.size() != 3 || !is_name(json_stem(parts[2]))) return {};
    found.part = part_folder(parts[1], json_stem(parts[2]));
  } else if (parts[0] == "images" && parts.size() > 4 && parts[2] == "labels") {
    if (!is_name(parts[3])) return {};
    found.part = part_folder(parts[1], parts[3]);
  }
  return found;
}

}  // namespace headrace::ingest
