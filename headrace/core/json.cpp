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

}  // namespace headrace
