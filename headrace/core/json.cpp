#include "headrace/core/json.hpp"

#include "headrace/core/error.hpp"

namespace headrace {

Json parse_json(std::string_view text, std::string_view origin) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail(ErrorCode::malformed, "{}: not valid JSON at byte {}: {}", origin, error.byte,
         error.what());
  }
}

std::string dump_json(const Json& value) { return value.dump(2) + "\n"; }

void put_at(Json& to, const JsonPath& path, Json value) {
  Json* at = &to;
  for (const std::string& key : path) at = &(*at)[key];
  *at = std::move(value);
}

const Json* find_at(const Json& json, const JsonPath& path) {
  const Json* at = &json;
  for (const std::string& key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

}  // namespace headrace
