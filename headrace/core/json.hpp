#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// JSON with sorted keys, so that the same value is always the same text.
using Json = nlohmann::json;

/// Parses JSON text. `origin` names the file or object in errors. Errors: malformed, with the byte
/// position.
Json parse_json(std::string_view text, std::string_view origin);

/// The text that the store and the hashes use: sorted keys, two-space indent, a newline at the end.
std::string dump_json(const Json& value);

/// The value as JSON; null where there is none.
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Keys of nested objects, outermost first.
using JsonPath = std::vector<std::string>;

/// Puts a value at a path; objects on the way are made.
void put_at(Json& to, const JsonPath& path, Json value);
/// The value at a path; null pointer where there is none.
const Json* find_at(const Json& json, const JsonPath& path);

}  // namespace headrace
