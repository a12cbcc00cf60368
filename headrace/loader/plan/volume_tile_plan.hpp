#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/loader/plan/sample_plan.hpp"

namespace headrace::loader::detail {

/// The box around all cells, limited to the volume: [low, high) in voxels of level 0. The whole
/// volume where there is no cell.
std::array<std::array<std::int64_t, 3>, 2> body_box(const cohort::VolumeCellIndex& cells,
                                                    const std::array<std::int64_t, 3>& shape_zyx);

/// make_tile_plan for volumes: windows over the box around each body or over all, in the order of images, z, y,
/// x. Starts are not negative; a window leaves its volume only where the volume is smaller.
std::shared_ptr<const SamplePlan> make_volume_tile_plan(const cohort::Cohort& cohort,
                                                        const LoaderConfig& config,
                                                        const std::vector<std::uint32_t>& images,
                                                        Beyond beyond);

}  // namespace headrace::loader::detail
