#include "headrace/cohort/same_pixels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::cohort {
namespace {

/// Of the chunks of level 0, or of the table of the tiles that it refers to: two files with tiles of
/// the same sizes at the same places are copies of one. Empty where there is none, and where the list is not there, which
/// `headrace verify` tells.
std::string hash_of_level0(const storage::Store& store, const std::string& id) {
  const std::string key = part_key(id, kPixelsPart);
  if (!store.exists(key)) return "";
  const Json json = parse_json(store.get_text(key), store.describe(key));
  const std::string level = "images/" + id + "/0/", chunks = level + "c/";
  std::string text;
  try {
    for (const auto& [object, entry] : json.at("objects").items()) {
      if (object.starts_with(chunks) || object == level + kTileTable) {
        text += fmt::format("{} {}\n", object.substr(level.size()),
                            entry.at("sha256").get_ref<const std::string&>());
      }
    }
  } catch (const Json::exception&) {
    fail(ErrorCode::malformed, "{}: not a list of objects", store.describe(key));
  }
  return text.empty() ? text : sha256_hex(std::string_view(text));
}

}  // namespace

std::vector<std::vector<std::string>> same_pixels(const storage::Store& store,
                                                  const StoreVersion& version) {
  std::map<std::string, std::vector<std::string>> by_hash;
  for (const auto& [id, image] : version.images) by_hash[hash_of_level0(store, id)].push_back(id);
  by_hash.erase("");
  std::vector<std::vector<std::string>> out;
  for (auto& [hash, ids] : by_hash) {
    if (ids.size() > 1) out.push_back(std::move(ids));
  }
  std::sort(out.begin(), out.end());
  return out;
}

SamePixels judge_same_pixels(const std::vector<std::vector<ImageOfSplit>>& groups) {
  constexpr std::size_t kNamed = 5;
  SamePixels out;
  std::vector<std::string> pairs;
  for (const auto& group : groups) {
    const auto other = std::find_if(group.begin(), group.end(), [&](const ImageOfSplit& image) {
      return image.split != group.front().split;
    });
    if (other != group.end()) {
      pairs.push_back(fmt::format("'{}' of split '{}' and '{}' of split '{}'", group.front().id,
                                  group.front().split, other->id, other->split));
      continue;
    }
    std::vector<std::string> ids;
    for (const ImageOfSplit& image : group) ids.push_back(image.id);
    out.within.push_back(fmt::format(
        "images {} have the same pixels, and are counted as many times", fmt::join(ids, ", ")));
  }
  if (pairs.empty()) return out;
  const std::size_t more = pairs.size() > kNamed ? pairs.size() - kNamed : 0;
  pairs.resize(pairs.size() - more);
  out.between =
      fmt::format("images of different splits have the same pixels: {}{}", fmt::join(pairs, "; "),
                  more > 0 ? fmt::format("; and {} more", more) : "");
  return out;
}

}  // namespace headrace::cohort
