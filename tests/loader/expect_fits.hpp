#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace headrace::fixtures {

/// Pearson's statistic, and the bound it stays under with probability 1 - 1e-6 (Wilson and
/// Hilferty's approximation).
inline void expect_fits(const std::map<std::uint64_t, double>& expected_share,
                        const std::map<std::uint64_t, std::uint64_t>& count,
                        const std::string& what) {
  double total = 0, statistic = 0;
  for (const auto& [key, n] : count) {
    ASSERT_TRUE(expected_share.contains(key)) << what << ": drawn, though its share is 0: " << key;
    total += static_cast<double>(n);
  }
  for (const auto& [key, share] : expected_share) {
    const auto found = count.find(key);
    const double observed = found == count.end() ? 0 : static_cast<double>(found->second);
    statistic += (observed - share * total) * (observed - share * total) / (share * total);
  }
  const double k = static_cast<double>(expected_share.size()) - 1, z = 4.75;
  const double bound = k * std::pow(1 - 2 / (9 * k) + z * std::sqrt(2 / (9 * k)), 3);
  EXPECT_LT(statistic, bound) << what << ", " << k << " degrees of freedom";
}

}  // namespace headrace::fixtures
