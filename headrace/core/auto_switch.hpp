#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace {

/// What a program does on its own where it fits, or is told to.
enum class AutoSwitch { automatic, on, off };

template <>
inline constexpr auto kNamesOf<AutoSwitch> = names<AutoSwitch>({{AutoSwitch::automatic, "auto"},
                                                                {AutoSwitch::on, "on"},
                                                                {AutoSwitch::off, "off"}});

}  // namespace headrace
