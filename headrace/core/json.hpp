#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// JSON with sorted keys, so that the same value is always the same text.
using Json = nlohmann::json;

/// Parses JSON text. `origin` names the file or object in errors. Errors: malformed, with the byte
/// position.
Json parse_json(std::string_view text, std::string_view origin);

/// The text that the store and the hashes use: sorted keys, two-space indent, a newline at the end.
std::string dump_json(const Json& value);

}  // namespace headrace
