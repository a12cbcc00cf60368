#include "headrace/runs/evaluation_check.hpp"

#include <fmt/format.h>

#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/measure/evaluated_images.hpp"
#include "headrace/measure/figure_names.hpp"

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

}  // namespace headrace::runs
