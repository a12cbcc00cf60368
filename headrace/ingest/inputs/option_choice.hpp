#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

/// Errors: usage, where `value` of the option is not one of `choices`; names the nearest.
void check_choice(const Option& option, const std::string& value,
                  const std::vector<std::string>& choices);

/// Errors: usage, where `align` is neither 0 nor a power of two up to 65536.
void check_alignment(std::int64_t bytes);

}  // namespace headrace::ingest
