#include "learn/report/grade_section.hpp"

#include <fmt/format.h>

#include "headrace/core/text.hpp"
#include "learn/report/eval_json.hpp"
#include "learn/report/html.hpp"
#include "learn/report/main_figures.hpp"
#include "learn/report/matrix.hpp"

namespace headrace::report {
namespace {

constexpr std::size_t kCohortsShown = 12;

std::string grade_matrix(const Json& matrix) {
  std::vector<std::string> groups;
  for (int g = 0; g < 6; ++g) groups.push_back(g == 0 ? "none" : std::to_string(g));
  return matrix_html(matrix, groups, /*percent=*/false);
}

/// The matrix of each of several cohorts, with its kappa; the lowest first.
std::string by_cohort(const RunData& data) {
  const Json& cohorts = data.eval.at("cohorts");
  if (cohorts.size() < 2) return "";
  std::string out;
  const auto groups = worst_first(cohorts, {"gleason", "kappa"});
  for (std::size_t g = 0; g < groups.size() && g < kCohortsShown; ++g) {
    out += fmt::format("<div><h3>{}: kappa {}</h3>{}</div>", escaped_markup(groups[g].name),
                       with_interval(*groups[g].figures, {"gleason", "kappa"}),
                       grade_matrix(groups[g].figures->at("gleason").at("matrix")));
  }
  const std::string rest =
      groups.size() > kCohortsShown
          ? fmt::format("<p>{} more cohorts are in eval.json.</p>", groups.size() - kCohortsShown)
          : "";
  return "<h3>Slides by cohort</h3><div class=\"two\">" + out + "</div>" + rest;
}

std::string grading_rule_text(const Json& eval) {
  const double lower = eval.value("min_area", 0.0) * 100;
  if (eval.value("grading", "biopsy") == "prostatectomy") {
    return fmt::format(
        "Prostatectomies: the secondary is the highest of the other patterns that fill at least "
        "{:.1f} % of the cancer; a higher one below that is tertiary.",
        lower);
  }
  return fmt::format(
      "Biopsies (ISUP 2014 and 2019): the secondary is the highest of the others, a higher pattern "
      "from {:.1f} % of the cancer on (noise floor), a lower one from {:.1f} %.",
      eval.value("min_higher", 0.0) * 100, lower);
}

}  // namespace

std::string grade_section(const RunData& data) {
  if (!data.gleason()) return "";
  const Json& gleason = data.eval.at("overall").at("gleason");
  const Json& overall = data.eval.at("overall");
  std::string kappa = "Quadratic weighted kappa " + with_interval(overall, {"gleason", "kappa"}) +
                      ", accuracy " + with_interval(overall, {"gleason", "accuracy"});
  if (gleason.contains("why_no_kappa")) kappa += ": " + text_of(gleason.at("why_no_kappa"));
  const Json& eval = data.config.at("eval");
  return fmt::format(
      "<section><h2>ISUP grade groups</h2><p>{} over {} slides; of {} cases, graded from the areas "
      "of all their slides together, kappa {}, accuracy {}. A slide has cancer when patterns 3 "
      "to 5 fill at least {:.1f} % of its tissue; the primary pattern has the largest area. "
      "{}{}</p><div class=\"two\"><div><h3>Slides</h3>{}</div><div><h3>Cases</h3>{}</div></div>{}"
      "</section>\n",
      kappa, gleason.at("slides").get<std::uint64_t>(),
      gleason.at("by_case").at("cases").get<std::uint64_t>(),
      with_interval(overall, {"gleason", "by_case", "kappa"}),
      with_interval(overall, {"gleason", "by_case", "accuracy"}),
      eval.value("min_cancer", 0.0) * 100, grading_rule_text(eval), interval_text(overall),
      grade_matrix(gleason.at("matrix")), grade_matrix(gleason.at("by_case").at("matrix")),
      by_cohort(data));
}

}  // namespace headrace::report
