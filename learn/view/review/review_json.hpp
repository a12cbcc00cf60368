#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::view {

/// The body of a request. Errors: usage (no JSON).
Json sent_json(const std::string& body);
/// The text at a key of what the page sent; "" where there is none. Errors: usage (no text).
std::string text_at(const Json& json, const char* key);
/// The class at "class". Errors: usage (not one of `classes`; lists them).
std::string class_at(const Json& json, const std::vector<std::string>& classes);

}  // namespace headrace::view
