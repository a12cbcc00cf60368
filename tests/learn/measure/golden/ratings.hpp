#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::measure {

/// The two lists of `case(n, seed)` in golden/kappa.py, by the same linear congruential generator.
inline std::pair<std::vector<int>, std::vector<int>> golden_case(std::size_t n, std::int64_t seed) {
  std::vector<int> out;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    seed = (1103515245 * seed + 12345) % (std::int64_t{1} << 31);
    out.push_back(static_cast<int>((seed >> 16) % 6));
  }
  const auto middle = out.begin() + static_cast<std::ptrdiff_t>(n);
  return {{out.begin(), middle}, {middle, out.end()}};
}

}  // namespace headrace::measure
