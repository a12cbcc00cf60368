#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "learn/measure/volume/lesion_calls.hpp"

namespace headrace::measure {

/// The lesion that a call hits.
struct LesionMatch {
  std::int32_t lesion = -1;  ///< the annotated component; -1: false positive
  double overlap = 0;        ///< with it: intersection over union; 0 without one
};

/// Matches calls with lesions.
///
/// In the order of `calls`, which is by falling score, each call takes one of the lesions that no
/// call has taken yet: the one with the highest intersection over union, if that is at least
/// `least_overlap` (the lower of equals). So a lesion is hit once, and a second call on it is a
/// false positive.
///
/// in      lesion_voxels  size of every lesion
/// out     one for each call
std::vector<LesionMatch> match_lesions(std::span<const std::uint64_t> lesion_voxels,
                                       std::span<const CallRegion> calls, double least_overlap);

}  // namespace headrace::measure
