#include "headrace/core/intensity_unit.hpp"

#include "headrace/core/text.hpp"

namespace headrace {

std::string_view name_of(IntensityUnit unit) noexcept {
  return unit == IntensityUnit::suv ? "SUV" : "HU";
}

std::optional<IntensityUnit> unit_named(std::string_view name) {
  for (const IntensityUnit unit : {IntensityUnit::hu, IntensityUnit::suv}) {
    if (lowered(name) == lowered(name_of(unit))) return unit;
  }
  return std::nullopt;
}

}  // namespace headrace
