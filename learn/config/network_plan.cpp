#include "learn/config/network_plan.hpp"

#include <algorithm>

namespace headrace::config {
namespace {

constexpr double kNear = 2;              ///< spacings below this multiple of the smallest are alike
constexpr std::int32_t kSmallest = 4;    ///< edge of the deepest level
constexpr std::int32_t kAloneEdge = 12;  ///< from which an axis is halved on its own

}  // namespace

NetworkPlan plan_network(std::span<const double> spacing, std::span<const std::int32_t> patch,
                         std::size_t max_levels) {
  std::vector<double> now(spacing.begin(), spacing.end());
  std::vector<std::int32_t> edges(patch.begin(), patch.end());
  const std::size_t axes = now.size();
  std::vector<int> kernel(axes, 1);
  NetworkPlan plan{{std::vector<int>(axes, 1)}, {}};
  while (plan.strides.size() < max_levels) {
    double finest = 0;  // of the axes that can be halved
    for (std::size_t a = 0; a < axes; ++a) {
      if (edges[a] >= 2 * kSmallest && (finest == 0 || now[a] < finest)) finest = now[a];
    }
    std::vector<int> stride(axes, 1);
    for (std::size_t a = 0; a < axes; ++a) {
      if (edges[a] >= 2 * kSmallest && now[a] / finest < kNear) stride[a] = 2;
    }
    const auto halved = std::count(stride.begin(), stride.end(), 2);
    const auto only =
        static_cast<std::size_t>(std::find(stride.begin(), stride.end(), 2) - stride.begin());
    if (halved == 0 || (halved == 1 && edges[only] < kAloneEdge)) break;
    const double smallest = *std::min_element(now.begin(), now.end());
    for (std::size_t a = 0; a < axes; ++a) {
      if (now[a] / smallest < kNear) kernel[a] = 3;
    }
    plan.kernels.push_back(kernel);
    plan.strides.push_back(stride);
    for (std::size_t a = 0; a < axes; ++a) {
      now[a] *= stride[a];
      edges[a] = (edges[a] + stride[a] - 1) / stride[a];
    }
  }
  plan.kernels.emplace_back(axes, 3);
  return plan;
}

std::vector<std::int64_t> edge_divisors(const std::vector<std::vector<int>>& strides) {
  std::vector<std::int64_t> divisors(strides.front().size(), 1);
  for (const std::vector<int>& stride : strides) {
    for (std::size_t a = 0; a < divisors.size(); ++a) divisors[a] *= stride[a];
  }
  return divisors;
}

std::vector<int> planned_widths(std::size_t levels, bool volumes) {
  const int most = volumes ? 320 : 512;
  std::vector<int> widths;
  for (std::size_t l = 0; l < levels; ++l) widths.push_back(std::min(most, 32 << l));
  return widths;
}

}  // namespace headrace::config
