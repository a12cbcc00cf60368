#include "headrace/core/intensity_unit.hpp"

#include "headrace/core/text.hpp"

namespace headrace {

std::optional<IntensityUnit> unit_named(std::string_view name) {
  for (const auto& [unit, own] : kNamesOf<IntensityUnit>) {
    if (lowered(name) == lowered(own)) return unit;
  }
  return std::nullopt;
}

}  // namespace headrace
