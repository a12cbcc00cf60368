#pragma once
#include <memory>
#include <string>

#include "headrace/loader/sample_plan.hpp"

namespace headrace::loader::detail {

/// make_tile_plan of volumes: windows over the box around each body, in the order of images, z, y,
/// x. Starts are not negative; a window leaves its volume only where the volume is smaller.
std::shared_ptr<const SamplePlan> make_volume_tile_plan(const source::Cohort& cohort,
                                                        const RunConfig& config,
                                                        const std::string& split);

}  // namespace headrace::loader::detail
