#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "headrace/core/enum_names.hpp"

namespace headrace {

/// The unit of the values of a volume's channel.
///
/// hu   Hounsfield units of CT
/// suv  standardised uptake value by body weight of PET, g/ml
enum class IntensityUnit { hu, suv };
template <>
inline constexpr auto kNamesOf<IntensityUnit> = names<IntensityUnit>({{IntensityUnit::hu, "HU"},
                                                                      {IntensityUnit::suv, "SUV"}});

/// The unit of this name, in any case.
std::optional<IntensityUnit> unit_named(std::string_view name);

/// Stores hold int16; this many steps make 1 of the unit. HU are whole numbers. SUV is in
/// hundredths, up to 327.67, since a tracer that leaves by the bladder reaches 200 there while
/// lungs have 0.3.
constexpr int stored_per_unit(IntensityUnit unit) { return unit == IntensityUnit::suv ? 100 : 1; }

/// The stored value of voxels that no slice shows: air, or no uptake.
constexpr std::int16_t stored_outside(IntensityUnit unit) {
  return unit == IntensityUnit::suv ? 0 : -1024;
}

/// From black to white where nothing else is asked for: soft tissue; a PET of FDG.
constexpr std::array<double, 2> usual_window(IntensityUnit unit) {
  return unit == IntensityUnit::suv ? std::array{0.0, 10.0} : std::array{-160.0, 240.0};
}

}  // namespace headrace
