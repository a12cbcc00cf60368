#include "learn/measure/base/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/cancel.hpp"
#include "headrace/math/philox.hpp"

namespace headrace::measure {
namespace {

/// Linear between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

std::string no_interval_text(std::size_t cases) {
  return fmt::format("{} case{}: no interval", cases, cases == 1 ? "" : "s");
}

std::vector<std::optional<std::array<double, 2>>> bootstrap_intervals(
    std::size_t cases, std::int64_t resamples, std::uint64_t seed, std::uint32_t stream,
    const std::function<Figures(std::span<const std::size_t> drawn)>& figures) {
  std::vector<std::vector<double>> values;
  std::vector<std::size_t> drawn(cases);
  for (std::int64_t r = 0; r < resamples; ++r) {
    stop_if_cancelled();
    for (std::size_t i = 0; i < cases; ++i) {
      const math::Philox4 words = math::philox4x32_10(
          math::Philox4{{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(r), stream, 0}},
          static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
      drawn[i] = static_cast<std::size_t>(math::uniform01(words.v[0], words.v[1]) *
                                          static_cast<double>(cases));
    }
    const Figures found = figures(drawn);
    values.resize(found.size());
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (found[f]) values[f].push_back(*found[f]);
    }
  }
  std::vector<std::optional<std::array<double, 2>>> out(values.size());
  for (std::size_t f = 0; f < values.size(); ++f) {
    auto& all = values[f];
    if (all.empty() || 2 * all.size() < static_cast<std::size_t>(resamples)) continue;
    std::sort(all.begin(), all.end());
    out[f] = {quantile(all, 0.025), quantile(all, 0.975)};
  }
  return out;
}

}  // namespace headrace::measure
