#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/json.hpp"

namespace headrace::cli {

enum class BenchWork { read, transform, loader, process };

struct BenchArguments {
  std::optional<BenchWork> what;
  std::string config, store, image, input, out;
  std::uint64_t count = 128, seed = 101;
  std::int64_t size = 0, level = 0;
  int threads = -1;
  bool json = false;
};

// Each does its work once before the clock starts, and returns Meter::report.

/// Patches of a level, one read each, at the places of the plan or of a seed; no transform.
Json bench_read(const BenchArguments& a);
/// Draw, locate and transform, windows already in memory.
Json bench_transform(const BenchArguments& a);

}  // namespace headrace::cli

namespace headrace {
template <>
inline constexpr auto kNamesOf<cli::BenchWork> =
    names<cli::BenchWork>({{cli::BenchWork::read, "read"},
                           {cli::BenchWork::transform, "transform"},
                           {cli::BenchWork::loader, "loader"},
                           {cli::BenchWork::process, "process"}});
}  // namespace headrace
