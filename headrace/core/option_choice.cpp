#include "headrace/core/option_choice.hpp"

#include <fmt/ranges.h>

#include "headrace/core/yaml.hpp"

namespace headrace {

std::string none_of(std::string_view word, const std::vector<std::string>& accepted) {
  const auto nearest = nearest_name(word, accepted);
  return fmt::format("is none of {}{}", fmt::join(accepted, ", "),
                     nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "");
}

}  // namespace headrace
