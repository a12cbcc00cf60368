#pragma once
#include <string>

#include "headrace/core/json.hpp"

namespace headrace {

/// What is wrong with a JSON value, in the words of its library without its own name for them
/// ("[json.exception.type_error.302] "), fit to be shown.
std::string json_fault(const Json::exception& error);

}  // namespace headrace
