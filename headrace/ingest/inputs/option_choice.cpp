#include "headrace/ingest/inputs/option_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::ingest {

void check_choice(const Option& option, const std::string& value,
                  const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  const auto nearest = nearest_name(value, choices);
  fail(ErrorCode::usage, "{} {}: is none of {}{}", option, value, fmt::join(choices, ", "),
       nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "");
}

void check_alignment(std::int64_t bytes) {
  constexpr std::int64_t kMost = 65536;
  if (bytes >= 0 && bytes <= kMost && (bytes & (bytes - 1)) == 0) return;
  fail(ErrorCode::usage, "{} {}: must be 0, or a power of two up to {}", Option{"align"}, bytes,
       kMost);
}

}  // namespace headrace::ingest
