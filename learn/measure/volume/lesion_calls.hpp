#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "headrace/pixels/components.hpp"

namespace headrace::measure {

/// A connected part of a volume that looks like a lesion.
struct CallRegion {
  std::uint16_t score = 0;  ///< the highest probability in it, in steps of 1/65535
  std::uint64_t voxels = 0;
  std::array<std::int64_t, 3> doubled_zyx{};  ///< sums of 2·(index + 0.5) over its voxels: exact
  std::map<std::uint32_t, std::uint64_t> shared;  ///< its voxels in annotated lesions
};

/// The calls of a volume, by falling score, then by their first highest voxel.
///
/// A call of score s is a connected part (26 neighbours) of the voxels with a probability of at
/// least 0.4·s whose highest probability is s. So each call has the extent that suits its own
/// height, calls never overlap, and a lower peak that is connected with a higher one at 0.4 of its
/// own height is not a separate call. The set of calls with a score of at least t does not depend
/// on `least_score`, so a FROC curve of them is right from there up. A part of fewer than
/// `least_voxels` is dropped, and its voxels count as 0 from then on, so that a spike of one voxel
/// does not suppress the lesion around it. The share 0.4 = 1/2.5 is that of the dynamic thresholds
/// of Bosma et al., Radiology: Artificial Intelligence 5, 2023 (PI-CAI), where a call that touches
/// a former one is dropped instead.
///
/// in      probability  (z, y, x) in steps of 1/65535
///         least_score, least_voxels  of a call; at least 1
///         lesions      annotated lesions of the same volume
/// memory  three bits a voxel, and the voxels at the rim of the call that is being filled
std::vector<CallRegion> find_calls(std::span<const std::uint16_t> probability,
                                   const std::array<std::int64_t, 3>& shape_zyx,
                                   std::uint16_t least_score, std::uint64_t least_voxels,
                                   const pixels::Components& lesions);

/// A call and its voxels.
struct LocatedCall {
  CallRegion region;
  /// In (z, y, x) order; `component` is the call's place among the calls.
  std::vector<pixels::Run> runs;
};

/// The same calls in the same order with the voxels of each, where no lesion is annotated.
///
/// memory  that of find_calls, and 20 bytes a run of voxels along x
std::vector<LocatedCall> find_calls_with_voxels(std::span<const std::uint16_t> probability,
                                                const std::array<std::int64_t, 3>& shape_zyx,
                                                std::uint16_t least_score,
                                                std::uint64_t least_voxels);

/// The least number of voxels of a call of at least `least_mm3`: at least 1. A call of exactly that
/// volume counts, whatever the division rounds to.
std::uint64_t least_call_voxels(double least_mm3, double voxel_mm3);

}  // namespace headrace::measure
