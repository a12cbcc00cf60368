#include "learn/runs/evaluation_check.hpp"

#include <fmt/format.h>

#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/sha256.hpp"
#include "learn/measure/evaluated_images.hpp"
#include "learn/measure/figure_names.hpp"
#include "learn/runs/trained_cases.hpp"

namespace headrace::runs {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.6f}", *value) : "undefined";
}

std::string digest_of(Json evaluation) {
  evaluation.erase("time");
  evaluation.erase(kDigest);
  return sha256_hex(evaluation.dump());
}

}  // namespace

void put_digest(Json& evaluation) { evaluation[kDigest] = digest_of(evaluation); }

void check_digest(const NamedEvaluation& evaluation) {
  const Json stated = evaluation.json.value(kDigest, Json());
  if (stated.is_null() || stated == digest_of(evaluation.json)) return;
  fail(ErrorCode::corrupt,
       "{} is not what it was when it was written, such as an interval, a calibration or a group: "
       "its digest does not fit. Evaluate again (headrace eval)",
       evaluation.origin);
}

void check_figures(const NamedEvaluation& evaluation) {
  const auto images = measure::EvaluatedImages::read(evaluation.json, evaluation.origin);
  for (const measure::FigureGroup& group : measure::groups_of(evaluation.json)) {
    if (group.kind != "overall" && group.kind != "cohorts") continue;
    const auto cases = images->group(group.kind, group.name);
    std::vector<std::size_t> all(cases->cases().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::size_t count = 0;
    for (const auto& one : cases->cases()) count += one.images.size();
    const auto stated = group.figures->value("images", Json());
    if (stated != count) {
      fail(ErrorCode::corrupt,
           "{}: {} has {} images there, but {} are listed: the file was changed. Evaluate again "
           "(headrace eval)",
           evaluation.origin, group.text(), stated.dump(), count);
    }
    const auto found = cases->figures(all);
    for (const measure::NamedFigure& figure : measure::figures_of_group(*group.figures)) {
      for (const auto& [path, value] : found) {
        if (path != figure.path || about(value, figure.value)) continue;
        fail(ErrorCode::corrupt,
             "{}: {} of {} is {} there, but its images make {}: the file was changed. Evaluate "
             "again (headrace eval)",
             evaluation.origin, figure.name, group.text(), number(figure.value), number(value));
      }
    }
  }
}

void check_unseen(const NamedEvaluation& evaluation, const Json& run, const Json& config) {
  const auto seen = count_seen(evaluation.json, run, config);
  if (!seen) {
    fail(ErrorCode::usage,
         "{}: which cases its weights were trained on is not recorded, as by earlier versions, so "
         "nothing says that they have not seen these. Evaluate again where the store of the "
         "training is (headrace eval), on the split that the run was judged by; or say why they "
         "are new: {} \"…\"",
         evaluation.origin, Option{"with_trained_cases"});
  }
  if (*seen == 0) {
    if (!begins_unknown(run)) return;
    log::warning(
        "{}: the run began with weights of which nothing says what they were trained on; whether "
        "they have seen cases of this evaluation is not known",
        evaluation.origin);
    return;
  }
  fail(ErrorCode::usage,
       "{}: its weights were trained on {} of its {} cases (patients), so its figures do not tell "
       "how they do on new ones. Judge by a split or store without these; or, if they only share "
       "the names, say so: {} \"…\"",
       evaluation.origin, *seen, cases_of(evaluation.json).size(), Option{"with_trained_cases"});
}

}  // namespace headrace::runs
