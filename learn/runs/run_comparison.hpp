#pragma once
#include <functional>
#include <string>

#include "headrace/core/json.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::runs {

/// What differs between two runs (docs/formats.md, "Comparison of two runs"): config, data, code,
/// libraries, hardware, preprocessing, first weights, weights and figures.
///
/// in      decides_nothing  of a config's key ("loader.threads")
/// errors  not_found (no run.json), malformed. A run without evaluation has no figures, and this is
///         said.
Json compare_runs(const RunFolder& before, const RunFolder& after,
                  const std::function<bool(const std::string& key)>& decides_nothing);

/// The same for reading, a line each.
std::string in_words(const Json& comparison);

}  // namespace headrace::runs
