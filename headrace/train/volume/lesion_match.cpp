#include "headrace/train/volume/lesion_match.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace headrace::train {
namespace {

using imaging::Run;

/// Shared voxels by (call, lesion), from runs in (z, y, x) order.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared_voxels(
    const std::vector<Run>& calls, const std::vector<Run>& lesions) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared;
  const auto row = [](const Run& run) { return std::tie(run.z, run.y); };
  auto a = calls.begin();
  auto b = lesions.begin();
  while (a != calls.end() && b != lesions.end()) {
    if (row(*a) != row(*b)) {
      row(*a) < row(*b) ? ++a : ++b;
      continue;
    }
    const std::int32_t low = std::max(a->x0, b->x0), high = std::min(a->x1, b->x1);
    if (low < high) shared[{a->component, b->component}] += static_cast<std::uint64_t>(high - low);
    a->x1 < b->x1 ? ++a : ++b;
  }
  return shared;
}

}  // namespace

std::vector<LesionCall> match_lesions(const imaging::Components& lesions,
                                      const imaging::Components& calls,
                                      const std::vector<double>& scores, double least_overlap) {
  const auto shared = shared_voxels(calls.runs, lesions.runs);
  std::vector<LesionCall> out;
  for (std::uint32_t c = 0; c < calls.sizes.size(); ++c) out.push_back({c, scores[c], -1, 0});
  std::stable_sort(out.begin(), out.end(),
                   [](const LesionCall& a, const LesionCall& b) { return a.score > b.score; });
  std::vector<bool> taken(lesions.sizes.size(), false);
  for (LesionCall& call : out) {
    for (auto at = shared.lower_bound({call.component, 0});
         at != shared.end() && at->first.first == call.component; ++at) {
      const std::uint32_t lesion = at->first.second;
      if (taken[lesion]) continue;
      const auto both = static_cast<double>(at->second);
      const double overlap =
          both / (static_cast<double>(calls.sizes[call.component] + lesions.sizes[lesion]) - both);
      if (overlap >= least_overlap && overlap > call.overlap) {
        call.lesion = static_cast<std::int32_t>(lesion);
        call.overlap = overlap;
      }
    }
    if (call.lesion >= 0) taken[static_cast<std::size_t>(call.lesion)] = true;
  }
  return out;
}

}  // namespace headrace::train
