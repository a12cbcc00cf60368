#pragma once
#include <cstdint>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"

namespace headrace::ingest {

/// Averages the 1, 2, 4 or 8 voxels of `src` under each voxel of the next level: (sum + n / 2) / n
/// rounded down, so halves go up; at an odd edge the n that exist. Axes along which `from` and `to`
/// have the same factor do not change.
void halve_volume(const std::int16_t* src, const VolumeLevelPlan& from, const VolumeLevelPlan& to,
                  std::int16_t* dst, ThreadPool& pool);

/// Labels of a level: the value of level 0 at min(i · f + f / 2, n - 1) on each axis, where f is
/// the level's factor and n level 0's size. Slices [z0, z0 + depth) of the level.
void pick_labels(const std::uint8_t* level0, const Shape3& shape0, const VolumeLevelPlan& level,
                 std::int64_t z0, std::int64_t depth, std::uint8_t* dst, ThreadPool& pool);

}  // namespace headrace::ingest
