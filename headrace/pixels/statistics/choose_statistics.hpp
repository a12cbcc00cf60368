#pragma once
#include <memory>

#include "headrace/device/device_choice.hpp"
#include "headrace/pixels/statistics/statistics_device.hpp"

namespace headrace::pixels {

/// The device that is asked for; null for the CPU. automatic: a GPU where there is one. Errors:
/// unsupported.
std::unique_ptr<StatisticsDevice> open_statistics(device::DeviceChoice choice);

}  // namespace headrace::pixels
