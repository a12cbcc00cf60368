#pragma once
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/json_fault.hpp"

namespace headrace {

/// What an exception of the standard library's file system or of the JSON library says as one of ours:
/// io with the path and the system's words, malformed with what is wrong with the value. Nothing for
/// others: our own, and those that no input causes.
std::optional<Error> error_from(const std::exception& foreign);

/// Runs `read`, which takes the content of files apart. What it does not find, or finds to be of
/// another kind, is malformed content. `origin` names the files. Errors: malformed, and those of `read`.
template <typename Read>
decltype(auto) taking_apart(const std::string& origin, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: a value is of another kind than expected: {}", origin,
         json_fault(error));
  } catch (const std::out_of_range&) {
    fail(ErrorCode::malformed, "{}: a name that another part of it refers to is missing", origin);
  }
}

}  // namespace headrace
