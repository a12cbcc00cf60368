#pragma once
#include "headrace/core/enum_names.hpp"

namespace headrace::device {

/// Where something is computed. automatic: on a GPU where there is one and it fits the work.
enum class DeviceChoice { automatic, cpu, cuda };

}  // namespace headrace::device

template <>
inline constexpr auto headrace::kNamesOf<headrace::device::DeviceChoice> =
    headrace::names<headrace::device::DeviceChoice>(
        {{headrace::device::DeviceChoice::automatic, "auto"},
         {headrace::device::DeviceChoice::cpu, "cpu"},
         {headrace::device::DeviceChoice::cuda, "cuda"}});
