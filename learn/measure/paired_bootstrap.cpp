#include "learn/measure/paired_bootstrap.hpp"

#include <map>
#include <numeric>

#include "learn/measure/base/bootstrap.hpp"

namespace headrace::measure {
namespace {

constexpr std::uint32_t kStream = 0x70616972u;  // "pair"

std::optional<double> minus(const std::optional<double>& after,
                            const std::optional<double>& before) {
  if (!after || !before) return std::nullopt;
  return *after - *before;
}

/// Where a case lies in both, for those that have the same images in both; ascending by id.
std::vector<std::array<std::size_t, 2>> common_cases(const EvaluatedCases& before,
                                                     const EvaluatedCases& after) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < before.cases().size(); ++i) places[before.cases()[i].id] = i;
  std::vector<std::array<std::size_t, 2>> out;
  for (std::size_t j = 0; j < after.cases().size(); ++j) {
    const auto found = places.find(after.cases()[j].id);
    if (found != places.end() && before.cases()[found->second] == after.cases()[j])
      out.push_back({found->second, j});
  }
  return out;
}

/// The figures that both have, with their values.
std::vector<PairedFigure> pair_up(const std::vector<PathFigure>& before,
                                  const std::vector<PathFigure>& after) {
  std::vector<PairedFigure> out;
  std::map<JsonPath, std::optional<double>> values(before.begin(), before.end());
  for (const auto& [path, value] : after) {
    const auto found = values.find(path);
    if (found != values.end())
      out.push_back({path, found->second, value, minus(value, found->second), {}});
  }
  return out;
}

}  // namespace

PairedFigures compare_paired(const EvaluatedCases& before, const EvaluatedCases& after,
                             std::int64_t resamples) {
  const auto common = common_cases(before, after);
  PairedFigures out{common.size(), before.cases().size(), after.cases().size(), {}};
  if (common.empty()) return out;
  const auto of = [&](std::span<const std::size_t> drawn) {
    std::vector<std::size_t> one, other;
    for (const std::size_t i : drawn) {
      one.push_back(common[i][0]);
      other.push_back(common[i][1]);
    }
    return pair_up(before.figures(one), after.figures(other));
  };
  std::vector<std::size_t> all(common.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  out.figures = of(all);
  if (common.size() < kLeastCasesOfIntervals) return out;
  const auto intervals = bootstrap_intervals(common.size(), resamples, 0, kStream,
                                             [&](std::span<const std::size_t> drawn) {
                                               Figures differences;
                                               for (const PairedFigure& figure : of(drawn))
                                                 differences.push_back(figure.difference);
                                               return differences;
                                             });
  for (std::size_t f = 0; f < intervals.size(); ++f) out.figures[f].interval = intervals[f];
  return out;
}

}  // namespace headrace::measure
