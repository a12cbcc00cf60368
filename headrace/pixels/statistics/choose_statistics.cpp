#include "headrace/pixels/statistics/choose_statistics.hpp"

#include "headrace/device/cuda_device.hpp"

namespace headrace::pixels {

std::unique_ptr<StatisticsDevice> open_statistics(device::DeviceChoice choice) {
  if (choice == device::DeviceChoice::cpu) return nullptr;
  if (choice == device::DeviceChoice::automatic && !device::cuda::cuda_available()) return nullptr;
  return open_cuda_statistics();
}

}  // namespace headrace::pixels
