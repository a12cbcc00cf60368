#include "cli/bench_meter.hpp"

#include <sys/resource.h>

#include <chrono>

namespace headrace::cli {
namespace {

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double cpu_seconds(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Meter::Meter() : cpu_s_(cpu_seconds(used())), wall_s_(wall_seconds()), faults_(used().ru_minflt) {}

Json Meter::report(std::uint64_t items, std::uint64_t bytes, int threads) const {
  const rusage usage = used();
  const auto n = static_cast<double>(items);
  return {{"items", items},
          {"cpu_ms_per_item", (cpu_seconds(usage) - cpu_s_) * 1e3 / n},
          {"wall_ms_per_item", (wall_seconds() - wall_s_) * 1e3 / n},
          {"bytes_per_item", bytes / items},
          {"peak_rss_mb", static_cast<double>(usage.ru_maxrss) / 1024},
          {"minor_faults_per_item", static_cast<double>(usage.ru_minflt - faults_) / n},
          {"threads", threads}};
}

}  // namespace headrace::cli
