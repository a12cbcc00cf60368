#pragma once
#include <cstdint>

#include "headrace/core/json.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// Seconds since 1970 (UTC), in whole milliseconds.
double utc_seconds();

/// A line of starts.jsonl: what a start or resume ran with. `run`: what would stand in run.json
/// now. {step, at, config, processes, dataset_hash, code, runtime, decoder, hardware, libraries}
Json start_record(std::int64_t step, const config::RunConfig& config, const Json& run,
                  int processes);

}  // namespace headrace::train
