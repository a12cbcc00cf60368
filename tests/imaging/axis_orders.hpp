#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// The 48 orders and directions of three axes.
inline std::vector<AxisMap> all_orders() {
  std::vector<AxisMap> orders;
  std::array<int, 3> axis{0, 1, 2};
  do {
    for (int flips = 0; flips < 8; ++flips)
      orders.push_back({axis, {(flips & 1) != 0, (flips & 2) != 0, (flips & 4) != 0}});
  } while (std::next_permutation(axis.begin(), axis.end()));
  return orders;
}

}  // namespace headrace::imaging
