#include "learn/view/review/review_json.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::view {

Json sent_json(const std::string& body) {
  try {
    return parse_json(body, "the request");
  } catch (const Error& error) {
    fail(ErrorCode::usage, "{}", error.what());
  }
}

std::string text_at(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  if (value.is_null()) return "";
  if (!value.is_string()) fail(ErrorCode::usage, "{}: is not text", key);
  return value.get<std::string>();
}

std::string class_at(const Json& json, const std::vector<std::string>& classes) {
  std::string name = text_at(json, "class");
  if (std::find(classes.begin(), classes.end(), name) == classes.end())
    fail(ErrorCode::usage, "class '{}': the run's classes are {}", name, fmt::join(classes, ", "));
  return name;
}

}  // namespace headrace::view
