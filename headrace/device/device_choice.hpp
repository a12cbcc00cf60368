#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace::device {

/// Where something is computed. automatic: on a GPU where there is one and it fits the work.
enum class DeviceChoice { automatic, cpu, cuda };

}  // namespace headrace::device

namespace headrace {
template <>
inline constexpr auto kNamesOf<device::DeviceChoice> =
    names<device::DeviceChoice>({{device::DeviceChoice::automatic, "auto"},
                                 {device::DeviceChoice::cpu, "cpu"},
                                 {device::DeviceChoice::cuda, "cuda"}});
}  // namespace headrace
