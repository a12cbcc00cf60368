#include "headrace/pixels/statistics/statistics_workspaces.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::pixels {
namespace {

constexpr std::int64_t kStagingBytes = std::int64_t{8} << 20;

}  // namespace

StatisticsWorkspace::StatisticsWorkspace(StatisticsDevice& device)
    : device_(&device),
      staging_(device.host_memory(static_cast<std::size_t>(kStagingBytes))),
      queue_(device.statistics_queue()) {}

std::uint8_t* StatisticsWorkspace::room(std::size_t index, std::size_t bytes) {
  Area& area = areas_.at(index);
  if (bytes > area.bytes) {
    queue_->wait();  // for work that uses the old memory
    area = {};
    area.memory = device_->device_memory(bytes);
    area.bytes = bytes;
  }
  return area.memory.get();
}

void StatisticsWorkspace::send_bytes(std::uint8_t* there, const std::uint8_t* from,
                                     std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue_->wait();  // for the copy before
    std::memcpy(staging_.get(), from + at, static_cast<std::size_t>(part));
    queue_->to_device(there + at, part, staging_.get(), part, part, 1);
  }
}

void StatisticsWorkspace::fetch_bytes(std::uint8_t* to, const std::uint8_t* there,
                                      std::int64_t bytes) {
  queue_->wait();
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue_->to_host(staging_.get(), part, there + at, part, part, 1);
    queue_->wait();
    std::memcpy(to + at, staging_.get(), static_cast<std::size_t>(part));
  }
}

StatisticsWorkspaces::StatisticsWorkspaces(StatisticsDevice& device, int threads) {
  for (int i = 0; i < std::clamp(threads, 1, kMost); ++i)
    workspaces_.put(StatisticsWorkspace(device));
}

}  // namespace headrace::pixels
