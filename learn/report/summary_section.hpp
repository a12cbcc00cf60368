#pragma once
#include <string>

#include "headrace/core/json.hpp"
#include "learn/report/run_data.hpp"

namespace headrace::report {

/// The folder's own name; never a path.
std::string run_name(const RunData& data);

/// The run's name, and what it is.
std::string header(const RunData& data);
/// Whether the figures reach the run's own gates, and each gate; a run without gates says so. And the
/// same of the gates of a file, by name, where it was judged by one.
std::string verdict(const RunData& data);
/// The same of a `gate` of eval.json or summary.json, for tests and for both forms of `figures`.
std::string verdict_of(const Json& gate);
/// The main figures with intervals, and the baseline's beside them.
std::string key_figures(const RunData& data);

}  // namespace headrace::report
