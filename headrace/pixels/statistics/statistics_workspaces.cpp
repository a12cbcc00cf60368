#include "headrace/pixels/statistics/statistics_workspaces.hpp"

#include <algorithm>

namespace headrace::pixels {

StatisticsWorkspaces::StatisticsWorkspaces(StatisticsDevice& device, int threads) {
  for (int i = 0; i < std::clamp(threads, 1, kMost); ++i)
    workspaces_.put(StatisticsWorkspace(device));
}

}  // namespace headrace::pixels
