#pragma once
// The bandwidth of a GPU's memory: the bound for a fused chain of transforms.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "headrace/device/cuda_device.hpp"

namespace headrace::device_bench {

/// Of an H200, as NVIDIA states it.
inline constexpr double kStatedBytesPerSecond = 4.8e12;

/// Bytes a second, read and written together, of a copy from device memory to device memory: the
/// median of nine copies of 2 GiB, after one that warms up.
inline double copy_bandwidth(device::cuda::Stream& stream) {
  constexpr std::int64_t kRow = std::int64_t{256} << 20, kRows = 8;
  device::cuda::DeviceBuffer from(static_cast<std::size_t>(kRow * kRows));
  device::cuda::DeviceBuffer to(static_cast<std::size_t>(kRow * kRows));
  const auto copy = [&] {
    device::cuda::copy_rows(to.as<void>(), kRow, from.as<void>(), kRow, kRow, kRows, stream);
    stream.wait();
  };
  copy();
  std::array<double, 9> seconds{};
  for (double& s : seconds) {
    const auto begin = std::chrono::steady_clock::now();
    copy();
    s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::sort(seconds.begin(), seconds.end());
  return 2.0 * static_cast<double>(kRow * kRows) / seconds[seconds.size() / 2];
}

/// The cells "GB/s | of a copy | of what is stated" of a table's row.
inline std::string bandwidth_cells(double bytes_per_second, double copy) {
  return fmt::format("{:.0f} | {:.0f} % | {:.0f} %", bytes_per_second * 1e-9,
                     bytes_per_second / copy * 100, bytes_per_second / kStatedBytesPerSecond * 100);
}

/// One line that explains those cells.
inline std::string bandwidth_note(double copy) {
  return fmt::format(
      "GB/s: what a chain must move, its source pixels read once and its output written once, over "
      "its time; passes between do not count. A copy from device memory to device memory moved "
      "{:.0f} GB/s in this run (read and written); {:.1f} TB/s is what NVIDIA states for an H200.",
      copy * 1e-9, kStatedBytesPerSecond * 1e-12);
}

/// "goal: ...; measured ...: reached" for the lines below a table.
inline std::string against(const std::string& goal, const std::string& measured, bool reached) {
  return fmt::format("- goal: {}; measured: {}: {}\n", goal, measured,
                     reached ? "reached" : "MISSED");
}

}  // namespace headrace::device_bench
