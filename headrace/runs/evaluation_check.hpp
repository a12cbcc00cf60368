#pragma once
#include "headrace/runs/evaluation_comparison.hpp"

namespace headrace::runs {

/// Makes the figures of an evaluation again from its images, over all of them and in each cohort, as
/// far as images determine figures (measure/evaluated_images.hpp), and refuses it where one is
/// another: somebody changed the file, or parts of it. Errors: corrupt, malformed, unsupported.
void check_figures(const NamedEvaluation& evaluation);

}  // namespace headrace::runs
