#pragma once
#include "learn/runs/evaluation_comparison.hpp"

namespace headrace::runs {

/// Makes the figures of an evaluation again from its images, over all of them and in each cohort, as
/// far as images determine figures (measure/evaluated_images.hpp), and refuses it where one is
/// another: somebody changed the file, or parts of it. Errors: corrupt, malformed, unsupported.
void check_figures(const NamedEvaluation& evaluation);

/// SHA-256 over all of an evaluation but its times, as `digest` in the file: it shows edits of what
/// images do not determine, such as intervals and calibration. Not a seal: who edits can make it
/// anew.
inline constexpr const char* kDigest = "digest";
/// States it in an evaluation that is about to be written.
void put_digest(Json& evaluation);
/// Refuses an evaluation that is not what it was when it was written. One of earlier versions states
/// no digest and passes. Errors: corrupt.
void check_digest(const NamedEvaluation& evaluation);

/// Refuses an evaluation of which the weights have seen cases, or of which that is not known
/// (runs/trained_cases.hpp). `run`, `config`: of the run that was evaluated. Errors: usage.
void check_unseen(const NamedEvaluation& evaluation, const Json& run, const Json& config);

}  // namespace headrace::runs
