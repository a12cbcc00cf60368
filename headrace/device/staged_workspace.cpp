#include "headrace/device/staged_workspace.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::device {

void send_staged(Queue& queue, std::uint8_t* staging, std::uint8_t* there, const std::uint8_t* from,
                 std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue.wait();  // for the copy before
    std::memcpy(staging, from + at, static_cast<std::size_t>(part));
    queue.to_device(there + at, part, staging, part, part, 1);
  }
}

void fetch_staged(Queue& queue, std::uint8_t* staging, std::uint8_t* to, const std::uint8_t* there,
                  std::int64_t bytes) {
  queue.wait();
  for (std::int64_t at = 0; at < bytes; at += kStagingBytes) {
    const std::int64_t part = std::min(kStagingBytes, bytes - at);
    queue.to_host(staging, part, there + at, part, part, 1);
    queue.wait();
    std::memcpy(to + at, staging, static_cast<std::size_t>(part));
  }
}

}  // namespace headrace::device
