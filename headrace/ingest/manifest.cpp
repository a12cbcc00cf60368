#include "headrace/ingest/manifest.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/source/store_format.hpp"

namespace headrace::ingest {
namespace {

constexpr const char* kKey = "manifest.json";

std::string line_of(const std::string& sha256, std::uint64_t size_bytes, const std::string& key) {
  return fmt::format("{} {} {}\n", sha256, size_bytes, key);
}

ManifestEntry parse_entry(const Json& json, const std::string& key) {
  const bool valid = json.is_object() && json.contains("sha256") && json["sha256"].is_string() &&
                     json["sha256"].get_ref<const std::string&>().size() == 64 &&
                     json.contains("size") && json["size"].is_number_unsigned();
  if (!valid) fail(ErrorCode::malformed, "manifest.json: entry '{}' lacks sha256 or size", key);
  return {json["sha256"].get<std::string>(), json["size"].get<std::uint64_t>()};
}

}  // namespace

std::string Manifest::dataset_hash() const {
  Sha256 root;
  auto it = objects.begin();
  while (it != objects.end()) {
    const auto slash = it->first.find('/');
    if (slash == std::string::npos) {
      root.update(line_of(it->second.sha256, it->second.size_bytes, it->first));
      ++it;
      continue;
    }
    const std::string folder = it->first.substr(0, slash + 1);
    Sha256 inside;
    std::uint64_t size_bytes = 0;
    for (; it != objects.end() && it->first.starts_with(folder); ++it) {
      inside.update(line_of(it->second.sha256, it->second.size_bytes, it->first));
      size_bytes += it->second.size_bytes;
    }
    root.update(line_of(inside.hex(), size_bytes, folder));
  }
  return root.hex();
}

Manifest Manifest::load(const storage::Store& store) {
  if (!store.exists(kKey)) {
    fail(ErrorCode::not_found,
         "{}: there is no manifest.json, so this is no finished store. Run `headrace ingest` with "
         "the same arguments again to finish it",
         store.describe(""));
  }
  const Json json = parse_json(store.get_text(kKey), store.describe(kKey));
  const bool numbered = json.is_object() && json.contains("format") && json["format"].is_number();
  if (numbered) source::check_store_format(json["format"].get<int>(), store.describe(kKey));
  if (!numbered || !json.contains("objects") || !json["objects"].is_object()) {
    fail(ErrorCode::malformed, "{}: not a manifest of format {}", store.describe(kKey),
         source::kStoreFormat);
  }
  Manifest manifest;
  for (const auto& [key, entry] : json["objects"].items()) {
    manifest.objects[key] = parse_entry(entry, key);
  }
  const std::string stated = json.value("dataset_hash", "");
  if (stated != manifest.dataset_hash()) {
    fail(ErrorCode::malformed, "{}: states the dataset hash {}, its entries give {}",
         store.describe(kKey), stated, manifest.dataset_hash());
  }
  return manifest;
}

void Manifest::save(storage::Store& store) const {
  Json list = Json::object();
  for (const auto& [key, entry] : objects) {
    list[key] = {{"sha256", entry.sha256}, {"size", entry.size_bytes}};
  }
  store.put_text(kKey, dump_json({{"format", source::kStoreFormat},
                                  {"dataset_hash", dataset_hash()},
                                  {"objects", std::move(list)}}));
}

}  // namespace headrace::ingest
