#pragma once
#include <cstdint>

#include "headrace/core/progress.hpp"
#include "headrace/core/threads.hpp"
#include "learn/process/image_sink.hpp"
#include "learn/process/image_source.hpp"
#include "learn/process/operation.hpp"
#include "learn/process/regions.hpp"
#include "learn/process/stage_clock.hpp"
#include "learn/process/tilewise_plan.hpp"

namespace headrace::process {

/// Reads, processes and writes an image strip by strip, by `plan`; `processor` was made for this
/// plan. Leaves out regions whose chunks an earlier run stored, and source blocks that only they
/// need. Returns the bytes of decoded pixels read.
std::uint64_t run_tilewise(const ImageSource& source, const Operation& operation, ImageSink& sink,
                           const TilewisePlan& plan, Regions& processor, std::int64_t chunk,
                           ThreadPool& pool, StageClocks& clocks);

}  // namespace headrace::process
