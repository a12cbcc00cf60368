#include "learn/measure/volume/lesion_match.hpp"

namespace headrace::measure {

std::vector<LesionMatch> match_lesions(std::span<const std::uint64_t> lesion_voxels,
                                       std::span<const CallRegion> calls, double least_overlap) {
  std::vector<LesionMatch> out;
  std::vector<bool> taken(lesion_voxels.size(), false);
  for (const CallRegion& call : calls) {
    LesionMatch match;
    for (const auto& [lesion, shared] : call.shared) {
      if (taken[lesion]) continue;
      const auto both = static_cast<double>(shared);
      const double overlap =
          both / (static_cast<double>(call.voxels + lesion_voxels[lesion]) - both);
      if (overlap >= least_overlap && overlap > match.overlap)
        match = {static_cast<std::int32_t>(lesion), overlap};
    }
    if (match.lesion >= 0) taken[static_cast<std::size_t>(match.lesion)] = true;
    out.push_back(match);
  }
  return out;
}

}  // namespace headrace::measure
