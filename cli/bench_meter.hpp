#pragma once
#include <cstdint>

#include "headrace/core/json.hpp"

namespace headrace::cli {

/// CPU time (user and system, all threads), wall time and page faults since its construction.
class Meter {
 public:
  Meter();
  /// items, cpu_ms_per_item, wall_ms_per_item, bytes_per_item (delivered), peak_rss_mb, threads,
  /// minor_faults_per_item.
  Json report(std::uint64_t items, std::uint64_t bytes, int threads) const;

 private:
  double cpu_s_, wall_s_;
  std::int64_t faults_;
};

}  // namespace headrace::cli
