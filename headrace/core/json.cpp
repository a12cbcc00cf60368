#include "headrace/core/json.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/json_depth.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/core/utf8.hpp"

namespace headrace {

std::string json_fault(const Json::exception& error) {
  const std::string text = shown_text(error.what());
  const auto end = text.starts_with("[json.exception") ? text.find("] ") : std::string::npos;
  const std::string words = end == std::string::npos ? text : text.substr(end + 2);
  // "cannot use value() with string": by the names of calls, not of what the file should have.
  constexpr std::string_view kCall = "cannot use ", kWith = " with ";
  const auto with = words.rfind(kWith);
  if (words.starts_with(kCall) && with != std::string::npos)
    return "found " + words.substr(with + kWith.size()) + ", expected an object or a list";
  return words;
}

Json parse_json(std::string_view text, std::string_view origin) {
  if (nests_too_deep(text)) {
    fail(ErrorCode::malformed, "{}: not taken as JSON, as it nests over {} deep", origin,
         kMostJsonDepth);
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail(ErrorCode::malformed, "{}: not valid JSON at byte {}: {}", origin, error.byte,
         json_fault(error));
  } catch (const Json::exception& error) {  // a number beyond every double
    fail(ErrorCode::malformed, "{}: not valid JSON: {}", origin, json_fault(error));
  }
}

std::string dump_json(const Json& value) {
  try {
    return value.dump(2) + "\n";
  } catch (const Json::type_error&) {
    const std::string shown =
        value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200);
    fail(ErrorCode::malformed, "a text that is not UTF-8 can't be written as JSON: {}…",
         shown_text(shown));
  }
}

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
