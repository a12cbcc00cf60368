#pragma once
#include <string>

#include "learn/runs/run_folder.hpp"

namespace headrace::runs {

/// The file of a run's weights.
///
/// in      weights  "final" or "best"
/// errors  not_found: it is not there. Says whether the training has to be finished, or has ended
///         without it: none of its validations had a value, or the folder is a promoted model, which
///         has one file of weights.
std::string weights_file(const RunFolder& folder, const std::string& weights);

}  // namespace headrace::runs
