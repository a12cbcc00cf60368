#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headrace/imaging/volume/components.hpp"

namespace headrace::train {

/// A component that the network calls a lesion.
struct LesionCall {
  std::uint32_t component = 0;
  double score = 0;
  std::int32_t lesion = -1;  ///< the annotated component that it hits; -1: false positive
  double overlap = 0;        ///< with it: intersection over union; 0 without one
};

/// Which calls hit which lesions.
///
/// In falling order of their scores (of equals the lower component first), each call takes, of the
/// lesions that no call has taken yet, the one with the highest intersection over union, if that is
/// at least `least_overlap` (of equals the lower). So a lesion is hit once, and a second call on it
/// is a false positive.
///
/// in      scores  of every component of `calls`
/// out     calls in the order in which they chose
std::vector<LesionCall> match_lesions(const imaging::Components& lesions,
                                      const imaging::Components& calls,
                                      const std::vector<double>& scores, double least_overlap);

}  // namespace headrace::train
