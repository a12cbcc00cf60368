#pragma once
#include <type_traits>
#include <variant>

#include "headrace/pixels/passes/mask_passes.hpp"
#include "headrace/pixels/passes/rgb.hpp"
#include "headrace/pixels/passes/stain_sums.hpp"
#include "headrace/pixels/passes/volume_passes.hpp"

namespace headrace::pixels {

/// One pass over pixels or voxels in a back end's memory; the pass itself holds the arithmetic. It
/// is called for every item below items() and element below elements(), in any order:
///
///   with kSums  sample(item, element): its `value`s and 1 are added to the place of its bin after
///               kSums sums, to which add() adds the sample; -1: to nothing
///   with kBins  bin(item, element): 1 is added to that counter, to none for -1. Of bins
///   [kNearFirst,
///               kNearFirst + kNear) most are expected, so they may be kept near while counting
///   else        (item, element): stores a result
///
/// Counters and sums are integers of 64 bits, so the order of additions has no effect.
using StatisticsPass = std::variant<DarkestCount, StainSums, TissueCount, SpreadPixel, ClearedCount,
                                    ThresholdWord, WordAlongX, WordAlongY, IntensityCount>;
static_assert(std::is_trivially_copyable_v<StatisticsPass>);

template <typename Pass>
inline constexpr bool is_sum = requires {
  Pass::kSums;
};
template <typename Pass>
inline constexpr bool is_count = requires {
  Pass::kBins;
};

}  // namespace headrace::pixels
