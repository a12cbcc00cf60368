#pragma once
#include <string>
#include <vector>

namespace headrace::ingest {

/// Errors: usage, where `value` of the option is none of `choices`; names the nearest.
void check_choice(const char* option, const std::string& value,
                  const std::vector<std::string>& choices);

}  // namespace headrace::ingest
