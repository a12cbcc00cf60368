#include "headrace/cohort/store_version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/cohort/image_record.hpp"
#include "headrace/cohort/store_format.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/storage/place.hpp"

namespace headrace::cohort {
namespace {

using detail::optional;
using detail::require;
using detail::require_field;

constexpr const char* kHead = "manifest.json";
constexpr std::size_t kHashDigits = 64, kShortestPrefix = 4, kShownDigits = 12;

bool is_hash(const std::string& text) {
  return text.size() == kHashDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Json part_json(const StoredPart& part) {
  return {{"sha256", part.manifest_sha256}, {"size", part.manifest_bytes}, {"bytes", part.bytes}};
}

StoredPart parse_part(const Json& json, const std::string& origin) {
  StoredPart part{require<std::string>(json, "sha256", origin),
                  require<std::uint64_t>(json, "size", origin),
                  require<std::uint64_t>(json, "bytes", origin)};
  if (!is_hash(part.manifest_sha256))
    fail(ErrorCode::malformed, "{}: 'sha256' is not a SHA-256", origin);
  return part;
}

VersionImage parse_image(const Json& json, const std::string& origin) {
  VersionImage image;
  image.pixels = parse_part(require_field(json, "pixels", origin), origin);
  image.columns = require_field(json, "columns", origin);
  const Json& labels = require_field(json, "labels", origin);
  for (const auto& [set, label] : labels.items()) {
    image.labels[set] = {require<std::string>(label, "group", origin), parse_part(label, origin)};
  }
  return image;
}

/// One line for each entry: there are many and large versions, and line-based tools compare them.
std::string one_line_each(const Json& object) {
  std::string text = "{";
  for (const auto& [key, value] : object.items())
    text +=
        fmt::format("{}\n    {}: {}", text.size() > 1 ? "," : "", Json(key).dump(), value.dump());
  return text + "\n  }";
}

}  // namespace

bool is_store(const std::filesystem::path& folder) {
  const auto place = storage::Place::parse(folder);
  return place.is_url() || std::filesystem::exists(place.join(kHead).path());
}

std::string version_key(const std::string& hash) { return "versions/" + hash + ".json"; }
std::string part_key(const std::string& image, const std::string& name) {
  return fmt::format("manifests/{}/{}.json", image, name);
}

std::string StoreVersion::text() const {
  Json objects = Json::object(), list = Json::object();
  for (const auto& [key, entry] : root)
    objects[key] = {{"sha256", entry.sha256}, {"size", entry.size_bytes}};
  for (const auto& [id, image] : images) {
    Json labels = Json::object();
    for (const auto& [set, label] : image.labels) {
      labels[set] = part_json(label.part);
      labels[set]["group"] = label.group;
    }
    list[id] = {
        {"pixels", part_json(image.pixels)}, {"labels", labels}, {"columns", image.columns}};
  }
  return fmt::format(
      "{{\n  \"format\": {},\n  \"kind\": {},\n  \"classes\": {},\n  \"facts\": {},\n  \"root\": "
      "{},\n"
      "  \"images\": {}\n}}\n",
      kStoreFormat, Json(kind).dump(), Json(classes).dump(), facts.dump(), one_line_each(objects),
      one_line_each(list));
}

std::string StoreVersion::hash() const { return sha256_hex(std::string_view(text())); }

std::vector<ClassSet> StoreVersion::class_sets() const {
  const Json sets = facts.value("class_sets", Json::object());
  if (sets.is_object() && sets.empty()) return {};  // the hash takes long to compute
  return class_sets_of(sets, classes, version_key(hash()));
}

std::uint64_t StoreVersion::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [key, entry] : root) sum += entry.size_bytes;
  for (const auto& [id, image] : images) {
    sum += image.pixels.bytes;
    for (const auto& [set, label] : image.labels) sum += label.part.bytes;
  }
  return sum;
}

StoreVersion StoreVersion::parse(const std::string& text, const std::string& origin) {
  const Json json = parse_json(text, origin);
  if (!json.is_object()) fail(ErrorCode::malformed, "{}: not a version of a store", origin);
  check_store_format(require<int>(json, "format", origin), origin);
  StoreVersion version;
  version.kind = require<std::string>(json, "kind", origin);
  version.classes = optional<std::vector<std::string>>(json, "classes", origin, {});
  version.facts = require_field(json, "facts", origin);
  const Json& root = require_field(json, "root", origin);
  const Json& images = require_field(json, "images", origin);
  for (const auto& [key, entry] : root.items()) {
    version.root[key] = {require<std::string>(entry, "sha256", origin),
                         require<std::uint64_t>(entry, "size", origin)};
  }
  for (const auto& [id, image] : images.items())
    version.images[id] = parse_image(image, origin + ", image " + id);
  return version;
}

StoreVersion StoreVersion::load(const storage::Store& store, const std::string& hash) {
  const std::string key = version_key(hash);
  if (!store.exists(key)) {
    fail(ErrorCode::corrupt, "{}: the version is missing. Run `headrace verify`",
         store.describe(key));
  }
  const std::string text = store.get_text(key);
  if (const std::string found = sha256_hex(std::string_view(text)); found != hash) {
    fail(ErrorCode::corrupt, "{}: its sha256 is {}, which should be its name", store.describe(key),
         found);
  }
  return parse(text, store.describe(key));
}

std::string StoreHead::text() const {
  Json list = Json::array();
  for (const auto& commit : log) {
    list.push_back({{"version", commit.version},
                    {"parent", commit.parent.empty() ? Json(nullptr) : Json(commit.parent)},
                    {"message", commit.message}});
  }
  // The log's own hash: nothing else protects its messages.
  return dump_json({{"format", kStoreFormat},
                    {"dataset_hash", current},
                    {"log", list},
                    {"sha256", sha256_hex(std::string_view(dump_json(list)))}});
}

std::string StoreHead::find(const std::string& prefix, const std::string& origin) const {
  std::vector<std::string> found, all;
  for (const auto& commit : log) {
    const std::string& hash = commit.version;
    if (std::find(all.begin(), all.end(), hash.substr(0, kShownDigits)) != all.end()) continue;
    all.push_back(hash.substr(0, kShownDigits));
    if (hash.starts_with(prefix)) found.push_back(hash);
  }
  if (found.size() == 1 && prefix.size() >= kShortestPrefix) return found.front();
  fail(ErrorCode::usage, "{}: {} version '{}'; it has {}", origin,
       found.size() > 1                  ? "more than one"
       : prefix.size() < kShortestPrefix ? "too few digits (4 at least) for"
                                         : "no",
       prefix, fmt::join(all, ", "));
}

StoreHead StoreHead::load(const storage::Store& store) {
  const std::string origin = store.describe(kHead);
  if (!store.exists(kHead)) {
    if (!store.exists("zarr.json") && !store.exists(".ingest/settings.json")) {
      fail(ErrorCode::not_found,
           "{}: no store lies here (no manifest.json, no zarr.json). Make one with headrace ingest",
           store.describe(""));
    }
    fail(ErrorCode::corrupt,
         "{}: no manifest.json, so its ingest did not finish. Run the same headrace ingest "
         "again: it goes on where it stopped",
         store.describe(""));
  }
  const Json json = parse_json(store.get_text(kHead), origin);
  if (!json.is_object()) fail(ErrorCode::malformed, "{}: not a manifest", origin);
  check_store_format(require<int>(json, "format", origin), origin);
  StoreHead head;
  head.current = require<std::string>(json, "dataset_hash", origin);
  const Json& log = require_field(json, "log", origin);
  for (const auto& entry : log) {
    head.log.push_back({require<std::string>(entry, "version", origin),
                        optional<std::string>(entry, "parent", origin, ""),
                        require<std::string>(entry, "message", origin)});
  }
  const bool listed = std::any_of(head.log.begin(), head.log.end(),
                                  [&](const Commit& c) { return c.version == head.current; });
  const bool hashes = std::all_of(head.log.begin(), head.log.end(),
                                  [&](const Commit& c) { return is_hash(c.version); });
  if (!listed || !hashes) {
    fail(ErrorCode::malformed, "{}: 'dataset_hash' is none of the versions of 'log'", origin);
  }
  return head;
}

}  // namespace headrace::cohort
