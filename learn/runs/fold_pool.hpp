#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::runs {

/// The figures of all cases of a cross-validation, each judged by the network that never saw it:
/// {overall, cohorts{}}, each with its `images`, `cases`, figures at their paths in eval.json and
/// interval_95 over resampled cases (with fewer than ten `no_interval`, a sentence). Made of the folds' images by the code
/// that made them (measure::EvaluatedImages), so figures that images do not determine, as the
/// calibration of pixels, are not there.
///
/// in      evaluations  eval.json of each fold; no case in two of them
///         resamples    of the cases; from 1
/// errors  those of EvaluatedImages::read
Json pool_folds(const std::vector<Json>& evaluations, std::int64_t resamples,
                const std::string& origin);

}  // namespace headrace::runs
