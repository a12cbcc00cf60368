#pragma once
#include <atomic>
#include <cstdint>

namespace headrace::storage {

/// What disk caches of this process have done.
struct DiskCounters {
  std::uint64_t ranges = 0, bytes = 0;  ///< that were read from disk, and no request was needed
  std::uint64_t damaged = 0;   ///< ranges with a page whose checksum did not hold; read anew
  std::uint64_t not_kept = 0;  ///< ranges: no room, or the disk was behind or failed

  DiskCounters operator-(const DiskCounters& before) const {
    return {ranges - before.ranges, bytes - before.bytes, damaged - before.damaged,
            not_kept - before.not_kept};
  }
};

/// What this process has asked of servers. Times: until the first byte of an answer.
struct NetworkCounters {
  std::uint64_t requests = 0;  ///< attempts, with those below
  std::uint64_t bytes = 0;     ///< of bodies that were taken
  std::uint64_t refused = 0;   ///< because there are too many (503, 429)
  std::uint64_t repeated = 0;  ///< after whatever was no sound answer
  std::uint64_t twice = 0;     ///< made beside one that hung
  std::uint64_t twice_won = 0;
  double first_byte_ms_p50 = 0, first_byte_ms_p99 = 0;  ///< 0: not known
  DiskCounters disk;

  /// Since `before`; times are as they are now.
  NetworkCounters operator-(const NetworkCounters& before) const {
    return {requests - before.requests, bytes - before.bytes, refused - before.refused,
            repeated - before.repeated, twice - before.twice, twice_won - before.twice_won,
            first_byte_ms_p50,          first_byte_ms_p99,    disk - before.disk};
  }
};

/// Counted by the thread that makes requests.
struct LiveCounters {
  std::atomic<std::uint64_t> requests{0}, bytes{0}, refused{0}, repeated{0}, twice{0}, twice_won{0};
  std::atomic<double> first_byte_ms_p50{0}, first_byte_ms_p99{0};
};

/// As they are now; zeros where no request was made. Safe from any thread.
NetworkCounters network_counters();

}  // namespace headrace::storage
