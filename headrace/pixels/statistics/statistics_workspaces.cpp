#include "headrace/pixels/statistics/statistics_workspaces.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::pixels {
namespace {

constexpr std::int64_t kStagingBytes = std::int64_t{8} << 20;

}  // namespace

StatisticsWorkspace::StatisticsWorkspace(StatisticsDevice& device)
    : QueueWorkspace(device, device.statistics_queue()) {
  on_host(static_cast<std::size_t>(kStagingBytes));
}

void StatisticsWorkspace::send_bytes(std::uint8_t* there, const std::uint8_t* from,
                                     std::int64_t bytes) {
  std::uint8_t* staging = on_host(static_cast<std::size_t>(kStagingBytes));
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue().wait();  // for the copy before
    std::memcpy(staging, from + at, static_cast<std::size_t>(part));
    queue().to_device(there + at, part, staging, part, part, 1);
  }
}

void StatisticsWorkspace::fetch_bytes(std::uint8_t* to, const std::uint8_t* there,
                                      std::int64_t bytes) {
  std::uint8_t* staging = on_host(static_cast<std::size_t>(kStagingBytes));
  queue().wait();
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue().to_host(staging, part, there + at, part, part, 1);
    queue().wait();
    std::memcpy(to + at, staging, static_cast<std::size_t>(part));
  }
}

StatisticsWorkspaces::StatisticsWorkspaces(StatisticsDevice& device, int threads) {
  for (int i = 0; i < std::clamp(threads, 1, kMost); ++i)
    workspaces_.put(StatisticsWorkspace(device));
}

}  // namespace headrace::pixels
