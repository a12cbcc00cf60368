#include "headrace/ingest/store/manifest.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::ingest {
namespace {

std::string text_of(const ObjectList& objects) {
  Json list = Json::object();
  for (const auto& [key, entry] : objects)
    list[key] = {{"sha256", entry.sha256}, {"size", entry.size_bytes}};
  return dump_json({{"objects", std::move(list)}});
}

cohort::StoredPart part_of(const std::string& text, const ObjectList& objects) {
  cohort::StoredPart part{sha256_hex(std::string_view(text)), text.size(), 0};
  for (const auto& [key, entry] : objects) part.bytes += entry.size_bytes;
  return part;
}

ObjectList parse_list(const std::string& text, const std::string& origin) {
  const Json json = parse_json(text, origin);
  ObjectList objects;
  try {
    for (const auto& [key, entry] : json.at("objects").items())
      objects[key] = {entry.at("sha256").get<std::string>(), entry.at("size").get<std::uint64_t>()};
  } catch (const Json::exception&) {
    fail(ErrorCode::malformed, "{}: not a list of objects", origin);
  }
  return objects;
}

}  // namespace

cohort::StoredPart put_part(storage::Store& store, const std::string& image,
                            const std::string& name, const ObjectList& objects) {
  const std::string text = text_of(objects), key = cohort::part_key(image, name);
  if (!store.exists(key) || store.get_text(key) != text) store.put_text(key, text);
  return part_of(text, objects);
}

ObjectList load_part(const storage::Store& store, const std::string& image, const std::string& name,
                     const cohort::StoredPart& part) {
  const std::string key = cohort::part_key(image, name);
  if (!store.exists(key))
    fail(ErrorCode::corrupt, "{}: is missing. Run `headrace verify`", store.describe(key));
  const std::string text = store.get_text(key);
  if (const std::string found = sha256_hex(std::string_view(text)); found != part.manifest_sha256) {
    fail(ErrorCode::corrupt, "{}: sha256 {}, the version says {}", store.describe(key), found,
         part.manifest_sha256);
  }
  return parse_list(text, store.describe(key));
}

std::optional<cohort::StoredPart> find_part(const storage::Store& store, const std::string& image,
                                            const std::string& name) {
  const std::string key = cohort::part_key(image, name);
  if (!store.exists(key)) return std::nullopt;
  const std::string text = store.get_text(key);
  return part_of(text, parse_list(text, store.describe(key)));
}

}  // namespace headrace::ingest
